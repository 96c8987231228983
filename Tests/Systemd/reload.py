"""`systemctl reload`: a good file takes effect, a broken one changes nothing."""

from harness import CONFIGURATION, SHAKEN_BOX, expect, journal, main_process, messages, now, show, started, systemctl, \
    test, wait_for, write


@test
def reload_applies_a_good_file():
    process = started()
    place = now()
    write(CONFIGURATION, SHAKEN_BOX.replace("[motion.moved]", "[motion.rattled]"))
    status, said = systemctl("reload")
    expect(status == 0, said)
    wait_for("an event of the new detector", lambda: journal(place, "BINNACLE_DETECTOR=rattled"))
    expect(main_process() == process, "it is another process")
    place = now()
    wait_for("another event of the new detector", lambda: journal(place, "BINNACLE_DETECTOR=rattled"))
    expect(not journal(place, "BINNACLE_DETECTOR=moved"), "the old detector is still at work")


@test
def reload_refuses_a_broken_file_and_goes_on():
    process = started()
    place = now()
    write(CONFIGURATION, SHAKEN_BOX.replace("accelerometer", "acelerometer"))
    systemctl("reload")
    line = SHAKEN_BOX.splitlines().index('accelerometer = "box"') + 1
    wait_for(
        "the fault's place in the journal",
        lambda: any(f"{CONFIGURATION}:{line}:" in text and "acelerometer" in text
                    for text in messages(place, "-u", "binnacle.service")))
    expect(show("ActiveState") == "active" and main_process() == process, f"{show('ActiveState')}, {main_process()}")
    place = now()
    wait_for("another event", lambda: journal(place, "BINNACLE_DETECTOR=moved"))
    # And what it refused is no harm to what comes after it.
    write(CONFIGURATION, SHAKEN_BOX.replace("[motion.moved]", "[motion.rattled]"))
    systemctl("reload")
    wait_for("an event of the new detector", lambda: journal(place, "BINNACLE_DETECTOR=rattled"))
    expect(main_process() == process, "it is another process")
