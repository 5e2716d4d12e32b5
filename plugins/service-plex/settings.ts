// The settings in `dumb` about the Plex server that other services use, whether or not it runs on this machine.
import { z } from 'zod';

export const plexSection = z.object({
  plex_address: z.string().default('').describe('address of the Plex server that services are given'),
  plex_token: z
    .string()
    .default('')
    .meta({ secret: true, description: 'token with which services ask the Plex server' }),
});
