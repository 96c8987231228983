"""Events in the journal."""

import re

from harness import expect, journal, now, started, test, wait_for


@test
def journal_has_events_with_their_fields():
    began = now()
    started()
    record = wait_for("a shake", lambda: journal(began, "-u", "binnacle.service", "BINNACLE_KIND=shake"))[0]
    wanted = {
        "BINNACLE_SENSOR": "box", "BINNACLE_DETECTOR": "moved", "SYSLOG_IDENTIFIER": "binnacle",
        "_SYSTEMD_UNIT": "binnacle.service",
    }
    found = {key: record.get(key) for key in wanted}
    expect(found == wanted, f"{found}")
    expect(re.fullmatch("[0-9a-f]{32}", record.get("MESSAGE_ID", "")), f"MESSAGE_ID {record.get('MESSAGE_ID')}")
    expect(re.fullmatch("[0-7]", record.get("PRIORITY", "")), f"PRIORITY {record.get('PRIORITY')}")
    expect(record.get("MESSAGE"), "there is no text")


@test
def journal_finds_events_by_message_id():
    began = now()
    started()
    record = wait_for("a shake", lambda: journal(began, "BINNACLE_KIND=shake"))[0]
    same = journal(began, f"MESSAGE_ID={record['MESSAGE_ID']}")
    kinds = {one.get("BINNACLE_KIND") for one in same}
    expect(kinds == {"shake"}, f"one MESSAGE_ID for {kinds}")
