"""The personal data that CommitCollect exports for a user. A separate job deletes the account."""

from __future__ import annotations

from typing import Final

from partita.recipes.personal import PersonalData, PersonalItems
from partita_services.commitcollect.audit import AuditEntry
from partita_services.commitcollect.model import AthleteOwner, awards_of, milestones_of, profile_of, workouts_of

_WITH_ACCOUNT: Final = "Deleted with the account by DELETE /commitcollect/api/me, which also disconnects Strava."

PERSONAL: Final = PersonalData(
    PersonalItems("profile", profile_of, fields=("name", "athlete_id"), stays=_WITH_ACCOUNT),
    PersonalItems("milestones", milestones_of, fields=("title",), stays=_WITH_ACCOUNT),
    PersonalItems("awards", awards_of, stays=_WITH_ACCOUNT),
    PersonalItems("workouts", workouts_of, fields=("name", "activity_id"), stays=_WITH_ACCOUNT),
    mentions={AthleteOwner: ("athlete_id",), AuditEntry: ("details", "correlation_id")},
)
