// Flags: a drawing for each current code, and a neutral flag with the code for all others.

import { el, svg } from "/assets/dom.js";

// The files in flags/.
const DRAWN = new Set(
  (
    "AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN " +
    "CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM " +
    "HN HR HT HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS LT LU LV LY MA MC MD ME MF MG MH MK " +
    "ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW " +
    "SA SB SC SD SE SG SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG UM US UY UZ VA VC VE VG VI " +
    "VN VU WF WS YE YT ZA ZM ZW"
  ).split(" "),
);

// The flag of a version; a drawing is the flag of the country that has the code now. The name next to it is its description,
// unless `name` is given, which becomes the alternative text.
export function flag(version, { current = version, name = "" } = {}) {
  const isSame = version.alpha3Code === current.alpha3Code || version.name === current.name;
  const code = version.alpha2Code;
  if (current.isDeleted || !isSame || !DRAWN.has(code)) return placeholder(code);
  return el("img", { className: "flag", loading: "lazy", decoding: "async", width: 30, height: 20, alt: name && `Flag of ${name}`, src: `flags/${code}.svg` });
}

function placeholder(code) {
  return svg("svg", { class: "flag none", viewBox: "0 0 30 20", "aria-hidden": "true" }, svg("rect", { width: 30, height: 20 }), svg("path", { d: "M0 20 20 0M10 20 30 0" }), svg("text", { x: 15, y: 13.6 }, code));
}
