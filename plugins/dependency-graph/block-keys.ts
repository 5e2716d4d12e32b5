// The keys by which any block, also one without a template, tells the graph of further ports.
import { z } from 'zod';

const port = z.unknown().meta({ relation: 'port' });

/** Contributed as marks only, so that editors do not offer these keys: nothing but the graph reads them. */
export const blockKeys = z.looseObject({
  web_port: port,
  ui_port: port,
  http_port: port,
  https_port: port,
  external_port: port,
  ports: port,
});
