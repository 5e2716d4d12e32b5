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
const flag = (meaning: string) => z.boolean().nullish().describe(meaning);
const word = (meaning: string) => z.string().nullish().describe(meaning);
const list = (meaning: string) => z.array(z.unknown()).nullish().describe(meaning);

/** Only the frontend reads and writes this section. Words are not checked, because a later frontend may know others. */
export const preferencesSection = z
  .looseObject({
    log_timestamp: z
      .looseObject({
        dateOrder: word('order of day and month, such as MDY'),
        hourFormat: word('hours of a day: 12 or 24'),
        zeroPad: flag('whether hours have two digits'),
      })
      .default({})
      .describe('how it shows times of log lines'),
    sidebar: z
      .looseObject({
        show_all_services: flag('whether services that are off are listed'),
        compact_mode: flag('whether entries are small'),
        tools_open: flag('whether the list of tools is open'),
        auto_hide_on_navigation: flag('whether a click on an entry hides it'),
        geek_mode: flag('whether technical details are shown'),
        quick_filter: word('which services are listed, such as running'),
        service_search: word('text that the listed services contain'),
        service_order: list('order of the services'),
        saved_views: list('named choices of services'),
        active_saved_view_id: word('the choice that is shown'),
        service_shortcuts: z.record(z.string(), z.unknown()).nullish().describe('keys that open services'),
      })
      .default({})
      .describe('how it shows its sidebar'),
  })
  .describe('preferences of the web frontend; its members are its own');
