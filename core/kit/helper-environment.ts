// The environment of the product's own helper programs, which open no connection.
import { publicEnvironment } from './public-environment.ts';

export function helperEnvironment(): Record<string, string> {
  const env = publicEnvironment(process.env);
  // Node reads the authorities in that file whenever it starts, which takes longer than the rest of a start.
  delete env.NODE_EXTRA_CA_CERTS;
  return env;
}
