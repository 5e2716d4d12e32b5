// Loaded into every test file's process: TypeScript runs from its sources. Modules that every file needs come first, because
// each import after the registration is asked of the loader's own thread.
import 'tap';
import 'zod';
import 'undici';
import 'ws';
import 'chokidar';
import { register } from 'tsx/esm/api';

register();
