// Has zod interpret schemas, with our words for values that do not fit. `host.ts` imports it first, because a schema of
// objects goes on as it was created.
import { z } from 'zod';
import { shapeWords } from '../kit/shape-words.ts';

// Compiling the hundreds of schemas of a full host takes longer than all checks that it would speed up.
z.config({ jitless: true, localeError: shapeWords });
