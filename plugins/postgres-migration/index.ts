// Moves services from SQLite to PostgreSQL. So far it has the transfer of one database alone, and offers nothing.
import { definePlugin } from '#core';

export default definePlugin({
  name: 'postgres-migration',
  host: '^1',
  setup: () => undefined,
});
