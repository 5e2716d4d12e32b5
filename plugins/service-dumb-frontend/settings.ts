// Configuration of the web frontend: the block of its process, and the preferences that it stores for its users.
import { z } from 'zod';

export const frontendSection = z.looseObject({
  enabled: z.boolean().default(false).describe('started as a service'),
  process_name: z.string().min(1).default('DUMB Frontend').describe('its name among the processes'),
  host: z.string().min(1).default('0.0.0.0').describe('address to listen on'),
  port: z.number().int().min(1).max(65_535).default(3005).describe('port to listen on'),
  env: z.record(z.string(), z.unknown()).default({}).describe('its environment'),
});

// A member that is not chosen may be sent as null.
const flag = z.boolean().nullish();
const word = z.string().nullish();
const list = z.array(z.unknown()).nullish();

/** Only the frontend reads and writes this section. Words are not checked, because a later frontend may know others. */
export const preferencesSection = z
  .looseObject({
    log_timestamp: z
      .looseObject({ dateOrder: word, hourFormat: word, zeroPad: flag })
      .default({})
      .describe('how it shows times of log lines'),
    sidebar: z
      .looseObject({
        show_all_services: flag,
        compact_mode: flag,
        tools_open: flag,
        auto_hide_on_navigation: flag,
        geek_mode: flag,
        quick_filter: word,
        service_search: word,
        service_order: list,
        saved_views: list,
        active_saved_view_id: word,
        service_shortcuts: z.record(z.string(), z.unknown()).nullish(),
      })
      .default({})
      .describe('how it shows its sidebar'),
  })
  .describe('preferences of the web frontend; its members are its own');
