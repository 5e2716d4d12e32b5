/* IMPORTANT
 * This snapshot file is auto-generated, but designed for humans.
 * It should be checked into source control and tracked carefully.
 * Re-generate by setting TAP_SNAPSHOT=1 and running tests.
 * Make sure to inspect the output below.  Do not ignore changes!
 */
'use strict';
exports[`test/plugins/dependency-graph/whole-stack.test.ts > TAP > all services, both scopes > every process 1`] = `
AIOStreams
  mode: dependency
  order: aiostreams
  goes with AltMount
  goes with InfiniDysk
  goes with Prowlarr One
  goes with Prowlarr Three
  goes with Prowlarr Two
  goes with Zilean

AltMount
  mode: core
  order: altmount
  goes with AIOStreams

Authelia
  mode: core
  order: postgres, authelia
  needs PostgreSQL (conditional_startup_map, non_core_dependency_map)

Bazarr
  mode: core
  order: radarr, sonarr, bazarr
  needs Radarr One (conditional_startup_map)
  needs Radarr Three (conditional_startup_map)
  needs Radarr Two (conditional_startup_map)
  needs Sonarr One (conditional_startup_map)
  needs Sonarr Three (conditional_startup_map)
  needs Sonarr Two (conditional_startup_map)

CLI Battery
  mode: dependency
  order: cli_battery, cli_debrid
  needed by CLI Debrid (conditional_startup_map, core_service_map)

CLI Debrid
  mode: core
  order: zurg, rclone, cli_battery, phalanx_db, cli_debrid
  needs CLI Battery (conditional_startup_map, core_service_map)
  needs Phalanx DB (core_service_map)
  needs Zurg Two (core_service_fields, core_service_map)
  needs rclone Two (core_service_fields, core_service_map)
  needed by Lidarr Two (core_service_fields)
  needed by NeutArr Two (core_service_fields)
  needed by Profilarr Two (core_service_fields)
  needed by Prowlarr Two (core_service_fields)
  needed by Radarr Two (core_service_fields)
  needed by Seerr Two (core_service_fields)
  needed by Sonarr Two (core_service_fields)
  needed by Whisparr Two (core_service_fields)
  goes with Zilean

Cloudflared
  mode: core
  order: traefik, cloudflared
  needs Traefik (conditional_startup_map, non_core_dependency_map)

Decypharr
  mode: core
  order: decypharr
  needed by Lidarr Two (core_service_fields)
  needed by NeutArr Two (core_service_fields)
  needed by Profilarr Two (core_service_fields)
  needed by Prowlarr Two (core_service_fields)
  needed by Radarr Two (core_service_fields)
  needed by Seerr Two (core_service_fields)
  needed by Sonarr Two (core_service_fields)
  needed by Whisparr Two (core_service_fields)
  needed by Zurg Two (core_service_fields)
  needed by rclone Two (core_service_fields)

Emby Media Server
  mode: core
  order: emby
  needed by Seerr Three (conditional_startup_map)

InfiniDysk
  mode: core
  order: rclone, infinidysk
  goes with AIOStreams

Jellyfin Media Server
  mode: core
  order: jellyfin
  needed by Seerr Three (conditional_startup_map)

Lidarr One
  mode: core
  order: lidarr
  needs Riven Backend (core_service_fields)
  needed by Profilarr One (conditional_startup_map)
  needed by Profilarr Three (conditional_startup_map)
  needed by Profilarr Two (conditional_startup_map)
  needed by Prowlarr One (conditional_startup_map)
  needed by Prowlarr Three (conditional_startup_map)
  needed by Prowlarr Two (conditional_startup_map)
  goes with Zilean

Lidarr Two
  mode: core
  order: lidarr
  needs CLI Debrid (core_service_fields)
  needs Decypharr (core_service_fields)
  needed by Profilarr One (conditional_startup_map)
  needed by Profilarr Three (conditional_startup_map)
  needed by Profilarr Two (conditional_startup_map)
  needed by Prowlarr One (conditional_startup_map)
  needed by Prowlarr Three (conditional_startup_map)
  needed by Prowlarr Two (conditional_startup_map)
  goes with Zilean

Lidarr Three
  mode: core
  order: lidarr
  needed by Profilarr One (conditional_startup_map)
  needed by Profilarr Three (conditional_startup_map)
  needed by Profilarr Two (conditional_startup_map)
  needed by Prowlarr One (conditional_startup_map)
  needed by Prowlarr Three (conditional_startup_map)
  needed by Prowlarr Two (conditional_startup_map)
  goes with Zilean

Maintainerr
  mode: dependency
  order: maintainerr

mediastorm
  mode: core
  order: postgres, mediastorm
  needs PostgreSQL (conditional_startup_map, non_core_dependency_map)

NeutArr One
  mode: core
  order: neutarr
  needs Riven Backend (core_service_fields)

NeutArr Two
  mode: core
  order: neutarr
  needs CLI Debrid (core_service_fields)
  needs Decypharr (core_service_fields)

NeutArr Three
  mode: core
  order: neutarr

pgAdmin4
  mode: core
  order: postgres, pgadmin
  needs PostgreSQL (conditional_startup_map, non_core_dependency_map)

Phalanx DB
  mode: dependency
  order: phalanx_db, cli_debrid
  needed by CLI Debrid (core_service_map)

Plex Media Server
  mode: core
  order: plex
  needed by Seerr Three (conditional_startup_map)
  needed by Tautulli (conditional_startup_map)

PostgreSQL
  mode: dependency
  order: postgres, riven_backend, authelia, mediastorm, pgadmin, traefik_proxy_admin, zilean
  needed by Authelia (conditional_startup_map, non_core_dependency_map)
  needed by Riven Backend (conditional_startup_map, core_service_map)
  needed by Traefik Proxy Admin (conditional_startup_map, non_core_dependency_map)
  needed by Zilean (conditional_startup_map, non_core_dependency_map)
  needed by mediastorm (conditional_startup_map, non_core_dependency_map)
  needed by pgAdmin4 (conditional_startup_map, non_core_dependency_map)

Profilarr One
  mode: core
  order: lidarr, radarr, sonarr, whisparr, profilarr
  needs Lidarr One (conditional_startup_map)
  needs Lidarr Three (conditional_startup_map)
  needs Lidarr Two (conditional_startup_map)
  needs Radarr One (conditional_startup_map)
  needs Radarr Three (conditional_startup_map)
  needs Radarr Two (conditional_startup_map)
  needs Riven Backend (core_service_fields)
  needs Sonarr One (conditional_startup_map)
  needs Sonarr Three (conditional_startup_map)
  needs Sonarr Two (conditional_startup_map)
  needs Whisparr One (conditional_startup_map)
  needs Whisparr Three (conditional_startup_map)
  needs Whisparr Two (conditional_startup_map)

Profilarr Two
  mode: core
  order: lidarr, radarr, sonarr, whisparr, profilarr
  needs CLI Debrid (core_service_fields)
  needs Decypharr (core_service_fields)
  needs Lidarr One (conditional_startup_map)
  needs Lidarr Three (conditional_startup_map)
  needs Lidarr Two (conditional_startup_map)
  needs Radarr One (conditional_startup_map)
  needs Radarr Three (conditional_startup_map)
  needs Radarr Two (conditional_startup_map)
  needs Sonarr One (conditional_startup_map)
  needs Sonarr Three (conditional_startup_map)
  needs Sonarr Two (conditional_startup_map)
  needs Whisparr One (conditional_startup_map)
  needs Whisparr Three (conditional_startup_map)
  needs Whisparr Two (conditional_startup_map)

Profilarr Three
  mode: core
  order: lidarr, radarr, sonarr, whisparr, profilarr
  needs Lidarr One (conditional_startup_map)
  needs Lidarr Three (conditional_startup_map)
  needs Lidarr Two (conditional_startup_map)
  needs Radarr One (conditional_startup_map)
  needs Radarr Three (conditional_startup_map)
  needs Radarr Two (conditional_startup_map)
  needs Sonarr One (conditional_startup_map)
  needs Sonarr Three (conditional_startup_map)
  needs Sonarr Two (conditional_startup_map)
  needs Whisparr One (conditional_startup_map)
  needs Whisparr Three (conditional_startup_map)
  needs Whisparr Two (conditional_startup_map)

Prowlarr One
  mode: core
  order: lidarr, radarr, sonarr, whisparr, prowlarr
  needs Lidarr One (conditional_startup_map)
  needs Lidarr Three (conditional_startup_map)
  needs Lidarr Two (conditional_startup_map)
  needs Radarr One (conditional_startup_map)
  needs Radarr Three (conditional_startup_map)
  needs Radarr Two (conditional_startup_map)
  needs Riven Backend (core_service_fields)
  needs Sonarr One (conditional_startup_map)
  needs Sonarr Three (conditional_startup_map)
  needs Sonarr Two (conditional_startup_map)
  needs Whisparr One (conditional_startup_map)
  needs Whisparr Three (conditional_startup_map)
  needs Whisparr Two (conditional_startup_map)
  goes with Zilean
  goes with AIOStreams

Prowlarr Two
  mode: core
  order: lidarr, radarr, sonarr, whisparr, prowlarr
  needs CLI Debrid (core_service_fields)
  needs Decypharr (core_service_fields)
  needs Lidarr One (conditional_startup_map)
  needs Lidarr Three (conditional_startup_map)
  needs Lidarr Two (conditional_startup_map)
  needs Radarr One (conditional_startup_map)
  needs Radarr Three (conditional_startup_map)
  needs Radarr Two (conditional_startup_map)
  needs Sonarr One (conditional_startup_map)
  needs Sonarr Three (conditional_startup_map)
  needs Sonarr Two (conditional_startup_map)
  needs Whisparr One (conditional_startup_map)
  needs Whisparr Three (conditional_startup_map)
  needs Whisparr Two (conditional_startup_map)
  goes with Zilean
  goes with AIOStreams

Prowlarr Three
  mode: core
  order: lidarr, radarr, sonarr, whisparr, prowlarr
  needs Lidarr One (conditional_startup_map)
  needs Lidarr Three (conditional_startup_map)
  needs Lidarr Two (conditional_startup_map)
  needs Radarr One (conditional_startup_map)
  needs Radarr Three (conditional_startup_map)
  needs Radarr Two (conditional_startup_map)
  needs Sonarr One (conditional_startup_map)
  needs Sonarr Three (conditional_startup_map)
  needs Sonarr Two (conditional_startup_map)
  needs Whisparr One (conditional_startup_map)
  needs Whisparr Three (conditional_startup_map)
  needs Whisparr Two (conditional_startup_map)
  goes with Zilean
  goes with AIOStreams

Pulsarr
  mode: core
  order: pulsarr

Radarr One
  mode: core
  order: radarr
  needs Riven Backend (core_service_fields)
  needed by Bazarr (conditional_startup_map)
  needed by Profilarr One (conditional_startup_map)
  needed by Profilarr Three (conditional_startup_map)
  needed by Profilarr Two (conditional_startup_map)
  needed by Prowlarr One (conditional_startup_map)
  needed by Prowlarr Three (conditional_startup_map)
  needed by Prowlarr Two (conditional_startup_map)
  goes with Zilean
  goes with Seerr One
  goes with Seerr Three
  goes with Seerr Two

Radarr Two
  mode: core
  order: radarr
  needs CLI Debrid (core_service_fields)
  needs Decypharr (core_service_fields)
  needed by Bazarr (conditional_startup_map)
  needed by Profilarr One (conditional_startup_map)
  needed by Profilarr Three (conditional_startup_map)
  needed by Profilarr Two (conditional_startup_map)
  needed by Prowlarr One (conditional_startup_map)
  needed by Prowlarr Three (conditional_startup_map)
  needed by Prowlarr Two (conditional_startup_map)
  goes with Zilean
  goes with Seerr One
  goes with Seerr Three
  goes with Seerr Two

Radarr Three
  mode: core
  order: radarr
  needed by Bazarr (conditional_startup_map)
  needed by Profilarr One (conditional_startup_map)
  needed by Profilarr Three (conditional_startup_map)
  needed by Profilarr Two (conditional_startup_map)
  needed by Prowlarr One (conditional_startup_map)
  needed by Prowlarr Three (conditional_startup_map)
  needed by Prowlarr Two (conditional_startup_map)
  goes with Zilean
  goes with Seerr One
  goes with Seerr Three
  goes with Seerr Two

rclone One
  mode: core
  order: zurg, rclone
  needs Zurg One (conditional_startup_map, rclone_provider_zurg)
  needed by Riven Backend (core_service_fields, core_service_map)

rclone Two
  mode: core
  order: zurg, rclone
  needs Decypharr (core_service_fields)
  needs Zurg Two (conditional_startup_map, rclone_provider_zurg)
  needed by CLI Debrid (core_service_fields, core_service_map)

rclone Three
  mode: core
  order: zurg, rclone
  needs Zurg One (conditional_startup_map, rclone_provider_zurg)
  needs Zurg Three (conditional_startup_map, rclone_provider_zurg)
  needs Zurg Two (conditional_startup_map, rclone_provider_zurg)

Riven Backend
  mode: core
  order: zurg, rclone, postgres, riven_backend
  needs PostgreSQL (conditional_startup_map, core_service_map)
  needs Zurg One (core_service_fields, core_service_map)
  needs rclone One (core_service_fields, core_service_map)
  needed by Lidarr One (core_service_fields)
  needed by NeutArr One (core_service_fields)
  needed by Profilarr One (core_service_fields)
  needed by Prowlarr One (core_service_fields)
  needed by Radarr One (core_service_fields)
  needed by Riven Frontend (conditional_startup_map, non_core_dependency_map)
  needed by Seerr One (core_service_fields)
  needed by Sonarr One (core_service_fields)
  needed by Whisparr One (core_service_fields)
  goes with Zilean

Riven Frontend
  mode: core
  order: riven_backend, riven_frontend
  needs Riven Backend (conditional_startup_map, non_core_dependency_map)

Seerr One
  mode: core
  order: seerr
  needs Riven Backend (core_service_fields)
  goes with Radarr One
  goes with Radarr Three
  goes with Radarr Two
  goes with Sonarr One
  goes with Sonarr Three
  goes with Sonarr Two

Seerr Two
  mode: core
  order: seerr
  needs CLI Debrid (core_service_fields)
  needs Decypharr (core_service_fields)
  goes with Radarr One
  goes with Radarr Three
  goes with Radarr Two
  goes with Sonarr One
  goes with Sonarr Three
  goes with Sonarr Two

Seerr Three
  mode: core
  order: emby, jellyfin, plex, seerr
  needs Emby Media Server (conditional_startup_map)
  needs Jellyfin Media Server (conditional_startup_map)
  needs Plex Media Server (conditional_startup_map)
  goes with Radarr One
  goes with Radarr Three
  goes with Radarr Two
  goes with Sonarr One
  goes with Sonarr Three
  goes with Sonarr Two

Sonarr One
  mode: core
  order: sonarr
  needs Riven Backend (core_service_fields)
  needed by Bazarr (conditional_startup_map)
  needed by Profilarr One (conditional_startup_map)
  needed by Profilarr Three (conditional_startup_map)
  needed by Profilarr Two (conditional_startup_map)
  needed by Prowlarr One (conditional_startup_map)
  needed by Prowlarr Three (conditional_startup_map)
  needed by Prowlarr Two (conditional_startup_map)
  goes with Zilean
  goes with Seerr One
  goes with Seerr Three
  goes with Seerr Two

Sonarr Two
  mode: core
  order: sonarr
  needs CLI Debrid (core_service_fields)
  needs Decypharr (core_service_fields)
  needed by Bazarr (conditional_startup_map)
  needed by Profilarr One (conditional_startup_map)
  needed by Profilarr Three (conditional_startup_map)
  needed by Profilarr Two (conditional_startup_map)
  needed by Prowlarr One (conditional_startup_map)
  needed by Prowlarr Three (conditional_startup_map)
  needed by Prowlarr Two (conditional_startup_map)
  goes with Zilean
  goes with Seerr One
  goes with Seerr Three
  goes with Seerr Two

Sonarr Three
  mode: core
  order: sonarr
  needed by Bazarr (conditional_startup_map)
  needed by Profilarr One (conditional_startup_map)
  needed by Profilarr Three (conditional_startup_map)
  needed by Profilarr Two (conditional_startup_map)
  needed by Prowlarr One (conditional_startup_map)
  needed by Prowlarr Three (conditional_startup_map)
  needed by Prowlarr Two (conditional_startup_map)
  goes with Zilean
  goes with Seerr One
  goes with Seerr Three
  goes with Seerr Two

Tautulli
  mode: core
  order: plex, tautulli
  needs Plex Media Server (conditional_startup_map)

Traefik
  mode: core
  order: traefik_proxy_admin, traefik
  needs Traefik Proxy Admin (conditional_startup_map)
  needed by Cloudflared (conditional_startup_map, non_core_dependency_map)

Traefik Proxy Admin
  mode: core
  order: postgres, traefik_proxy_admin
  needs PostgreSQL (conditional_startup_map, non_core_dependency_map)
  needed by Traefik (conditional_startup_map)

Whisparr One
  mode: core
  order: whisparr
  needs Riven Backend (core_service_fields)
  needed by Profilarr One (conditional_startup_map)
  needed by Profilarr Three (conditional_startup_map)
  needed by Profilarr Two (conditional_startup_map)
  needed by Prowlarr One (conditional_startup_map)
  needed by Prowlarr Three (conditional_startup_map)
  needed by Prowlarr Two (conditional_startup_map)
  goes with Zilean

Whisparr Two
  mode: core
  order: whisparr
  needs CLI Debrid (core_service_fields)
  needs Decypharr (core_service_fields)
  needed by Profilarr One (conditional_startup_map)
  needed by Profilarr Three (conditional_startup_map)
  needed by Profilarr Two (conditional_startup_map)
  needed by Prowlarr One (conditional_startup_map)
  needed by Prowlarr Three (conditional_startup_map)
  needed by Prowlarr Two (conditional_startup_map)
  goes with Zilean

Whisparr Three
  mode: core
  order: whisparr
  needed by Profilarr One (conditional_startup_map)
  needed by Profilarr Three (conditional_startup_map)
  needed by Profilarr Two (conditional_startup_map)
  needed by Prowlarr One (conditional_startup_map)
  needed by Prowlarr Three (conditional_startup_map)
  needed by Prowlarr Two (conditional_startup_map)
  goes with Zilean

Zilean
  mode: core
  order: postgres, zilean
  needs PostgreSQL (conditional_startup_map, non_core_dependency_map)
  goes with AIOStreams
  goes with CLI Debrid
  goes with Lidarr One
  goes with Lidarr Three
  goes with Lidarr Two
  goes with Prowlarr One
  goes with Prowlarr Three
  goes with Prowlarr Two
  goes with Radarr One
  goes with Radarr Three
  goes with Radarr Two
  goes with Riven Backend
  goes with Sonarr One
  goes with Sonarr Three
  goes with Sonarr Two
  goes with Whisparr One
  goes with Whisparr Three
  goes with Whisparr Two

Zurg One
  mode: dependency
  order: zurg, rclone, riven_backend
  needed by Riven Backend (core_service_fields, core_service_map)
  needed by rclone One (conditional_startup_map, rclone_provider_zurg)
  needed by rclone Three (conditional_startup_map, rclone_provider_zurg)

Zurg Two
  mode: dependency
  order: zurg, rclone, cli_debrid
  needs Decypharr (core_service_fields)
  needed by CLI Debrid (core_service_fields, core_service_map)
  needed by rclone Three (conditional_startup_map, rclone_provider_zurg)
  needed by rclone Two (conditional_startup_map, rclone_provider_zurg)

Zurg Three
  mode: dependency
  order: zurg, rclone
  needed by rclone Three (conditional_startup_map, rclone_provider_zurg)

DUMB API
  mode: dependency
  order: dumb_api_service

DUMB Frontend
  mode: dependency
  order: dumb_frontend
`;
