// Starts InfiniDysk where its installation has no start script of its own: two programs that begin and end together.

/** Below its directory. */
export const PROGRAM = 'app/NzbWebDAV';

/**
 * For `sh -c`, with the directory of the installation as its argument. A migration that fails ends both; both get the
 * signals, and the code of the second is that of the whole.
 */
export const START_STEPS = `
cd "$1/frontend" || exit 1
node dist-node/server.js &
frontend=$!
backend=
ending=
forward() {
  ending=1
  kill -TERM "$frontend" 2>/dev/null
  [ -z "$backend" ] || kill -TERM "$backend" 2>/dev/null
}
trap forward TERM INT
run() {
  "$@" &
  backend=$!
  wait "$backend"
  code=$?
  while kill -0 "$backend" 2>/dev/null; do
    wait "$backend"
    code=$?
  done
}
end() {
  kill -TERM "$frontend" 2>/dev/null
  wait "$frontend"
  exit "$code"
}
cd "$1" || exit 1
run "$1/${PROGRAM}" --db-migration
if [ "$code" -ne 0 ] || [ -n "$ending" ]; then end; fi
run "$1/${PROGRAM}"
end
`;
