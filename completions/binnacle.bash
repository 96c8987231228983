# Made by `make documents` from the rows in Sources; changes here are lost.
_binnacle_words() { mapfile -t COMPREPLY < <(compgen -W "$1" -- "$current"); }
_binnacle_paths() {
    compopt -o filenames 2>/dev/null
    mapfile -t COMPREPLY < <(compgen "$1" -- "$current")
}
_binnacle() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} options='' place
    COMPREPLY=()
    if [ "$COMP_CWORD" -eq 1 ]; then
        _binnacle_words 'run replay sweep score plot record convert devices doctor check status reset arm disarm metrics events samples watch web serve on monitor calibrate declination simulate bench --help --version'
        return
    fi
    # What stands behind -- is a command of its own.
    for ((place = 2; place < COMP_CWORD; place++)); do
        if [ "${COMP_WORDS[place]}" = -- ]; then
            if [ "${COMP_WORDS[1]}" = on ] && [ "$place" -eq $((COMP_CWORD - 1)) ]; then
                _binnacle_paths -c
            else
                _binnacle_paths -f
            fi
            return
        fi
    done
    # --option=value comes as three words.
    if [ "$current" = = ]; then
        current=
    elif [ "$previous" = = ]; then
        previous=${COMP_WORDS[COMP_CWORD - 2]}
    fi
    case "${COMP_WORDS[1]} $previous" in
        'run --config' | 'run -c') _binnacle_paths -f; return ;;
        'run --set') :; return ;;
        'run --simulate') _binnacle_words 'still walk shake tap turn drop wash screen tumble'; return ;;
        'run --trace') _binnacle_paths -f; return ;;
        'run --speed') :; return ;;
        'run --root') _binnacle_paths -d; return ;;
        'replay --bind') :; return ;;
        'replay --map') :; return ;;
        'replay --rate') :; return ;;
        'replay --config' | 'replay -c') _binnacle_paths -f; return ;;
        'replay --set') :; return ;;
        'replay --from') :; return ;;
        'replay --to') :; return ;;
        'replay --speed') _binnacle_words 'max'; return ;;
        'replay --batch') :; return ;;
        'replay --report') _binnacle_paths -f; return ;;
        'sweep --map') :; return ;;
        'sweep --rate') :; return ;;
        'sweep --config' | 'sweep -c') _binnacle_paths -f; return ;;
        'sweep --set') :; return ;;
        'sweep --from') :; return ;;
        'sweep --to') :; return ;;
        'sweep --labels') _binnacle_paths -f; return ;;
        'sweep --tolerance') :; return ;;
        'sweep --kind') _binnacle_words 'motion.began motion.moving motion.ended shake free_fall shock rotation.began rotation.ended heading heading.lost heading.found sector.entered sector.left interference.began interference.ended calibration.needed calibration.restored north.faced north.facing north.left orientation.changed tilt.changed hinge.changed attitude.changed heel.began heel.ended pitch.began pitch.ended light.changed proximity.changed tap step stationary departed vibration.began vibration.changed vibration.ended machine.changed machine.finished gap samples.lost sensor.active sensor.inactive sensors.one_left sensors.none_left detector.failed detector.unavailable quorum.reached command.finished command.failed events.dropped handler.failed handler.recovered handler.armed handler.disarmed store.failed store.recovered any motion.* rotation.* heading.* sector.* interference.* calibration.* north.* orientation.* tilt.* hinge.* attitude.* heel.* pitch.* light.* proximity.* vibration.* machine.* samples.* sensor.* sensors.* detector.* quorum.* command.* events.* handler.* store.*'; return ;;
        'score --tolerance') :; return ;;
        'score --kind') _binnacle_words 'motion.began motion.moving motion.ended shake free_fall shock rotation.began rotation.ended heading heading.lost heading.found sector.entered sector.left interference.began interference.ended calibration.needed calibration.restored north.faced north.facing north.left orientation.changed tilt.changed hinge.changed attitude.changed heel.began heel.ended pitch.began pitch.ended light.changed proximity.changed tap step stationary departed vibration.began vibration.changed vibration.ended machine.changed machine.finished gap samples.lost sensor.active sensor.inactive sensors.one_left sensors.none_left detector.failed detector.unavailable quorum.reached command.finished command.failed events.dropped handler.failed handler.recovered handler.armed handler.disarmed store.failed store.recovered any motion.* rotation.* heading.* sector.* interference.* calibration.* north.* orientation.* tilt.* hinge.* attitude.* heel.* pitch.* light.* proximity.* vibration.* machine.* samples.* sensor.* sensors.* detector.* quorum.* command.* events.* handler.* store.*'; return ;;
        'plot --output' | 'plot -o') _binnacle_paths -f; return ;;
        'plot --bind') :; return ;;
        'plot --map') :; return ;;
        'plot --rate') :; return ;;
        'plot --config' | 'plot -c') _binnacle_paths -f; return ;;
        'plot --set') :; return ;;
        'plot --from') :; return ;;
        'plot --to') :; return ;;
        'plot --batch') :; return ;;
        'plot --format') _binnacle_words 'html svg'; return ;;
        'record --output' | 'record -o') _binnacle_paths -f; return ;;
        'record --for') :; return ;;
        'record --sensor') :; return ;;
        'record --config' | 'record -c') _binnacle_paths -f; return ;;
        'record --simulate') _binnacle_words 'still walk shake tap turn drop wash screen tumble'; return ;;
        'record --root') _binnacle_paths -d; return ;;
        'convert --output' | 'convert -o') _binnacle_paths -f; return ;;
        'convert --bind') :; return ;;
        'convert --map') :; return ;;
        'convert --rate') :; return ;;
        'devices --root') _binnacle_paths -d; return ;;
        'doctor --measure') :; return ;;
        'doctor --sensor') :; return ;;
        'doctor --config' | 'doctor -c') _binnacle_paths -f; return ;;
        'doctor --simulate') _binnacle_words 'still walk shake tap turn drop wash screen tumble'; return ;;
        'doctor --root') _binnacle_paths -d; return ;;
        'check --config' | 'check -c') _binnacle_paths -f; return ;;
        'check --set') :; return ;;
        'check --root') _binnacle_paths -d; return ;;
        'status --socket') _binnacle_paths -f; return ;;
        'reset --socket') _binnacle_paths -f; return ;;
        'arm --socket') _binnacle_paths -f; return ;;
        'disarm --socket') _binnacle_paths -f; return ;;
        'metrics --file') _binnacle_paths -f; return ;;
        'metrics --token-file') _binnacle_paths -f; return ;;
        'metrics --host') :; return ;;
        'metrics --socket') _binnacle_paths -f; return ;;
        'events --since') :; return ;;
        'events --until') :; return ;;
        'events --last' | 'events -n') :; return ;;
        'events --kind') _binnacle_words 'motion.began motion.moving motion.ended shake free_fall shock rotation.began rotation.ended heading heading.lost heading.found sector.entered sector.left interference.began interference.ended calibration.needed calibration.restored north.faced north.facing north.left orientation.changed tilt.changed hinge.changed attitude.changed heel.began heel.ended pitch.began pitch.ended light.changed proximity.changed tap step stationary departed vibration.began vibration.changed vibration.ended machine.changed machine.finished gap samples.lost sensor.active sensor.inactive sensors.one_left sensors.none_left detector.failed detector.unavailable quorum.reached command.finished command.failed events.dropped handler.failed handler.recovered handler.armed handler.disarmed store.failed store.recovered any motion.* rotation.* heading.* sector.* interference.* calibration.* north.* orientation.* tilt.* hinge.* attitude.* heel.* pitch.* light.* proximity.* vibration.* machine.* samples.* sensor.* sensors.* detector.* quorum.* command.* events.* handler.* store.*'; return ;;
        'events --sensor') :; return ;;
        'events --socket') _binnacle_paths -f; return ;;
        'events --store') _binnacle_paths -f; return ;;
        'samples --sensor') :; return ;;
        'samples --kind') _binnacle_words 'accelerometer magnetometer gyroscope'; return ;;
        'samples --socket') _binnacle_paths -f; return ;;
        'watch --simulate') _binnacle_words 'still walk shake tap turn drop wash screen tumble'; return ;;
        'watch --config' | 'watch -c') _binnacle_paths -f; return ;;
        'watch --set') :; return ;;
        'watch --speed') :; return ;;
        'watch --sensor') :; return ;;
        'watch --for') :; return ;;
        'watch --socket') _binnacle_paths -f; return ;;
        'watch --root') _binnacle_paths -d; return ;;
        'web --listen') :; return ;;
        'web --token-file') _binnacle_paths -f; return ;;
        'web --host') :; return ;;
        'web --calibrations') _binnacle_paths -f; return ;;
        'web --socket') _binnacle_paths -f; return ;;
        'serve --listen') :; return ;;
        'serve --bind') :; return ;;
        'serve --map') :; return ;;
        'serve --rate') :; return ;;
        'serve --speed') _binnacle_words 'max'; return ;;
        'serve --socket') _binnacle_paths -f; return ;;
        'on --sensor') :; return ;;
        'on --after') :; return ;;
        'on --socket') _binnacle_paths -f; return ;;
        'calibrate --output' | 'calibrate -o') _binnacle_paths -f; return ;;
        'calibrate --model') _binnacle_words 'sphere ellipsoid'; return ;;
        'calibrate --trace') _binnacle_paths -f; return ;;
        'calibrate --bind') :; return ;;
        'calibrate --map') :; return ;;
        'calibrate --rate') :; return ;;
        'calibrate --from') :; return ;;
        'calibrate --to') :; return ;;
        'calibrate --sensor') :; return ;;
        'calibrate --config' | 'calibrate -c') _binnacle_paths -f; return ;;
        'calibrate --simulate') _binnacle_words 'still walk shake tap turn drop wash screen tumble'; return ;;
        'calibrate --for') :; return ;;
        'calibrate --position') :; return ;;
        'calibrate --field') :; return ;;
        'calibrate --root') _binnacle_paths -d; return ;;
        'declination --date') :; return ;;
        'declination --altitude') :; return ;;
        'simulate --model') _binnacle_words 'still walk shake tap turn drop wash screen tumble'; return ;;
        'simulate --rate-hz') :; return ;;
        'simulate --trace') _binnacle_paths -f; return ;;
        'simulate --bind') :; return ;;
        'simulate --map') :; return ;;
        'simulate --rate') :; return ;;
        'simulate --sensor') :; return ;;
        'simulate --speed') :; return ;;
        'simulate --as') _binnacle_words 'hub evdev'; return ;;
        'simulate --bits') _binnacle_words '16 32'; return ;;
        'simulate --time') _binnacle_words 'hub kernel'; return ;;
        'simulate --name') :; return ;;
        'simulate --for') :; return ;;
        'simulate --node') _binnacle_paths -f; return ;;
        'bench --kernel') _binnacle_words 'limits k1 k3 k4 k5 decode detectors live traces'; return ;;
    esac
    case ${COMP_WORDS[1]} in
        run)
            options='--config --set --simulate --trace --loop --speed --json --root --help'
            _binnacle_paths -f
            ;;
        replay)
            options='--bind --map --rate --config --set --from --to --speed --batch --decode-scans --handlers --json --arrow --each --report --force --help'
            _binnacle_paths -f
            ;;
        sweep)
            options='--map --rate --config --set --from --to --decode-scans --labels --tolerance --kind --json --csv --arrow --help'
            _binnacle_paths -f
            ;;
        score)
            options='--tolerance --kind --json --csv --arrow --help'
            _binnacle_paths -f
            ;;
        plot)
            options='--output --bind --map --rate --config --set --from --to --batch --decode-scans --format --force --help'
            _binnacle_paths -f
            ;;
        record)
            options='--output --for --sensor --config --simulate --scans --force --root --help'
            :
            ;;
        convert)
            options='--output --bind --map --rate --force --help'
            _binnacle_paths -f
            ;;
        devices)
            options='--json --root --help'
            :
            ;;
        doctor)
            options='--guide --measure --sensor --config --json --simulate --root --help'
            :
            ;;
        check)
            options='--config --set --strict --root --help'
            _binnacle_paths -f
            ;;
        status)
            options='--json --socket --help'
            :
            ;;
        reset)
            options='--socket --help'
            :
            ;;
        arm)
            options='--socket --help'
            :
            ;;
        disarm)
            options='--socket --help'
            :
            ;;
        metrics)
            options='--file --http --token-file --host --socket --help'
            :
            ;;
        events)
            options='--since --until --last --kind --sensor --follow --json --utc --kinds --socket --store --help'
            :
            ;;
        samples)
            options='--sensor --kind --raw --json --socket --help'
            :
            ;;
        watch)
            options='--simulate --config --set --loop --speed --sensor --for --utc --socket --root --help'
            _binnacle_paths -f
            ;;
        web)
            options='--listen --token-file --host --calibrations --http --socket --help'
            :
            ;;
        serve)
            options='--listen --stdio --bind --map --rate --speed --loop --socket --help'
            _binnacle_paths -f
            ;;
        on)
            options='--sensor --after --once --json --utc --socket --help'
            _binnacle_words 'motion.began motion.moving motion.ended shake free_fall shock rotation.began rotation.ended heading heading.lost heading.found sector.entered sector.left interference.began interference.ended calibration.needed calibration.restored north.faced north.facing north.left orientation.changed tilt.changed hinge.changed attitude.changed heel.began heel.ended pitch.began pitch.ended light.changed proximity.changed tap step stationary departed vibration.began vibration.changed vibration.ended machine.changed machine.finished gap samples.lost sensor.active sensor.inactive sensors.one_left sensors.none_left detector.failed detector.unavailable quorum.reached command.finished command.failed events.dropped handler.failed handler.recovered handler.armed handler.disarmed store.failed store.recovered any motion.* rotation.* heading.* sector.* interference.* calibration.* north.* orientation.* tilt.* hinge.* attitude.* heel.* pitch.* light.* proximity.* vibration.* machine.* samples.* sensor.* sensors.* detector.* quorum.* command.* events.* handler.* store.*'
            ;;
        monitor)
            options='--accel --light --proximity --compass --all --help'
            :
            ;;
        calibrate)
            options='--output --force --noise --model --trace --bind --map --rate --from --to --sensor --config --simulate --for --position --field --json --root --help'
            _binnacle_words 'accelerometer magnetometer gyroscope'
            ;;
        declination)
            options='--date --altitude --json --help'
            :
            ;;
        simulate)
            options='--model --rate-hz --gyroscope --trace --bind --map --rate --sensor --speed --loop --as --bits --time --wait --name --for --node --help'
            :
            ;;
        bench)
            options='--quick --kernel --json --help'
            :
            ;;
    esac
    case $current in -*) _binnacle_words "$options" ;; esac
}
complete -F _binnacle binnacle
