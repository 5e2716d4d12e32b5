// What makes lines of output into a log. Worker threads import it as `#core/output`: it brings no library along.
export { formatLine } from './log/format.ts';
export { findLevel, type LogLevel, parseLevel, passes } from './log/levels.ts';
export { isSecretKey, redact } from './log/redact.ts';
export { RotatingFile, type RotatingFileOptions, type Rotation, rotatedFiles } from './log/rotating-file.ts';
