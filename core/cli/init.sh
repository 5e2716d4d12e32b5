#!/bin/sh
# PID 1 of a container: runs the given command as its child, reaps every orphan, which Node cannot, passes signals on,
# and ends with the exit code of the command.
# A shell gives a command in the background no input of its own accord, which a login or an attached service needs.
if true 2>/dev/null 3<&0; then
  exec 3<&0
  "$@" <&3 3<&- &
  exec 3<&-
else
  "$@" &
fi
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
  # 127: the child was waited for already, so the shell does not know it any more.
  [ "$status" -eq 127 ] && break
  code=$status
  [ -z "$signalled" ] && break
done
[ "${code:-0}" -gt 128 ] && echo "stackwarden-init: the command was ended by signal $((code - 128))" >&2
exit "${code:-127}"
