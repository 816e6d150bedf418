// Formatting of figures, days and times.

import { now } from "/assets/time.js";

const number = (value, digits = 0) => value.toLocaleString("en", { maximumFractionDigits: digits });
const HOUR = 3600;

// The format of each metric: `unit` is the unit in which a person types it, `per` the factor to the API's unit.
export const METRICS = {
  distance: { name: "Distance", unit: "km", per: 1000, verb: "cover", text: (value) => `${number(value / 1000, value < 10_000 ? 1 : 0)} km`, exact: (value) => `${number(value / 1000, 1)} km` },
  moving_time: { name: "Moving time", unit: "hours", per: HOUR, verb: "move for", text: duration, exact: duration },
  elevation: { name: "Elevation", unit: "m", per: 1, verb: "climb", text: (value) => `${number(value)} m`, exact: (value) => `${number(value)} m` },
  count: { name: "Workouts", unit: "workouts", per: 1, verb: "do", text: plural, exact: plural },
};

function plural(value) {
  return `${number(value)} ${value === 1 ? "workout" : "workouts"}`;
}

export function duration(seconds) {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  return hours ? `${hours} h${minutes % 60 ? ` ${minutes % 60} min` : ""}` : `${minutes} min`;
}

const SPORTS = { Run: "Run", TrailRun: "Trail run", Ride: "Ride", Hike: "Hike", Swim: "Swim", Walk: "Walk" };
export const SPORT_TYPES = Object.keys(SPORTS);
export const sport = (type) => SPORTS[type] ?? type.replace(/(?<=[a-z])(?=[A-Z])/g, " ");

const WHY_NOT = { manual: "entered by hand", flagged: "flagged on Strava", other_sport: "of another sport" };
export const whyNot = (reason) => WHY_NOT[reason] ?? reason;

// A day is written as the API writes it, 2026-11-15, and is the same day everywhere.
const asDate = (day) => new Date(`${day}T00:00:00Z`);
const DAY = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", timeZone: "UTC" });
const DAY_OF_YEAR = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", year: "numeric", timeZone: "UTC" });
const INSTANT = new Intl.DateTimeFormat("en", { day: "numeric", month: "short", hour: "2-digit", minute: "2-digit", hourCycle: "h23" });

export const today = () => new Date(now()).toLocaleDateString("sv");
export const plusDays = (day, days) => new Date(asDate(day).getTime() + days * 86_400_000).toISOString().slice(0, 10);
export const dayText = (day) => (day.slice(0, 4) === today().slice(0, 4) ? DAY : DAY_OF_YEAR).format(asDate(day));
export const instantText = (instant) => INSTANT.format(new Date(instant));
export const localDay = (instant) => dayText(instant.slice(0, 10));

export function daysLeft(day) {
  const days = Math.round((asDate(day) - asDate(today())) / 86_400_000);
  if (days < 0) return "ended";
  if (days === 0) return "last day";
  return days === 1 ? "1 day left" : `${days} days left`;
}
