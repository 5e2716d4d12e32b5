#!/bin/sh
# Runs the command that is given as its child, as PID 1 of a container: reaps every orphan, which Node cannot, passes
# signals on, and ends as the command ends.
"$@" &
child=$!
trap 'signalled=yes; kill -TERM "$child"' TERM
trap 'signalled=yes; kill -INT "$child"' INT
trap 'signalled=yes; kill -HUP "$child"' HUP
trap 'signalled=yes; kill -QUIT "$child"' QUIT
trap 'signalled=yes; kill -PWR "$child"' PWR
code=
while :; do
  signalled=
  wait "$child"
  status=$?
  # What was waited for already is not known any more.
  [ "$status" -eq 127 ] && break
  code=$status
  [ -z "$signalled" ] && break
done
[ "${code:-0}" -gt 128 ] && echo "stackwarden-init: the command was ended by signal $((code - 128))" >&2
exit "${code:-127}"
