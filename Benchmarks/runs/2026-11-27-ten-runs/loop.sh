#!/bin/sh
# Runs `make test` again and again in a checkout whose programs are built: loop.sh NUMBER
number=$1 i=0
while [ "$i" -lt "$number" ]; do
    i=$((i + 1))
    start=$(date +%s)
    make -k test >".build/test.$i.log" 2>&1
    status=$?
    echo "run $i rc $status $(($(date +%s) - start)) s $(date +%T)"
done
