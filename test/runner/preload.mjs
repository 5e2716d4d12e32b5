// Loaded into every test file's process: TypeScript runs from its sources. Modules that every file needs come first, because
// each import after the registration is asked of the loader's own thread.
import t from 'tap';
import 'zod';
import 'undici';
import 'ws';
import 'chokidar';
import { register } from 'tsx/esm/api';

// For a file that is run alone: the runner gives its own limit. A slow machine needs more than tap's 30 s.
if (process.env.TAP_TIMEOUT === undefined) t.setTimeout(600_000);
register();
