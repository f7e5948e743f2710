"""All public issues about running state, those of switches first; ``docs/incidents.md`` lists them."""

from tests.checks.verify.issues.hosts import HOST_ISSUES
from tests.checks.verify.issues.switches import SWITCH_ISSUES

ISSUES = (*SWITCH_ISSUES, *HOST_ISSUES)
