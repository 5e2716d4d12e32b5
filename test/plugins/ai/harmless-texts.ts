// Texts of logs, requests and files that look as if they held a secret, and hold none.
import { HARMLESS_LINES } from '../../support/harmless-lines.ts';

const FURTHER = `
2026-01-02T03:04:05.678Z [Info] Microsoft.Hosting.Lifetime: Now listening on http://[::]:8989
2026-01-02 03:04:05.6|Info|Bootstrap|Starting Sonarr - version 4.0.9.2244
2026-01-02 03:04:05.6|Warn|RssSyncService|No available indexers. check your configuration
2026-01-02 03:04:05.6|Error|DownloadDecisionMaker|Couldn't evaluate decision on A.Show.S01E02.1080p.WEB.h264-GROUP
[v4.0.9.2244] System.IO.IOException: No space left on device : '/config/logs/sonarr.txt'
at NzbDrone.Core.Datastore.BasicRepository\`1.Query(SqlBuilder builder) in ./Datastore/BasicRepository.cs:line 176
A.Movie.2026.2160p.UHD.BluRay.x265-GROUP
Some.Show.S02E05.MULTi.1080p.WEB-DL.DDP5.1.H.264-TEAM.mkv
/mnt/debrid/riven/shows/Some Show (2019)/Season 02/Some.Show.S02E05.mkv
/data/media/tv/Some Show/Season 1/Some Show - S01E01 - Pilot.mkv
550e8400-e29b-41d4-a716-446655440000
job 550e8400-e29b-41d4-a716-446655440000 finished in 12.4 s
commit 3f786850e387550fdab836ed7e6dc881de23001b
sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855
md5 d41d8cd98f00b204e9800998ecf8427e of the file
infohash 2fd4e1c67a2d28fced849ee1bb76e7391b93eb12
magnet:?xt=urn:btih:2fd4e1c67a2d28fced849ee1bb76e7391b93eb12&dn=A.Movie.2026
etag "33a64df551425fcc55e4d42a148795d9f25f89d4"
node_modules/.pnpm/tsx@4.23.15/node_modules/tsx/dist/loader.mjs
npm warn deprecated inflight@1.0.6: This module is not supported
npm ERR! code ELIFECYCLE
react-dom@18.2.0
PID 1234 exited with code 137 (out of memory)
container id 4f5c2d1e9a7b
image ghcr.io/owner/service:1.2.3
registry.example.org/media/arr@sha256:0123456789abcdef
nzb 6a1f0c9e is queued at position 4
GET /api/v3/series?sort=title&page=2 200 31ms
GET /api/v3/system/status 401 Unauthorized
POST /api/v1/token/refresh 204
GET /ws/logs 101
GET /identity 200 4ms
http://127.0.0.1:9696/1/api?t=caps
http://localhost:11434/v1/models
https://docs.example.org/guides/api-keys
https://wiki.servarr.com/sonarr/faq#help-i-have-forgotten-my-password
http://[::1]:8000/health
tcp://0.0.0.0:5432
unix:///run/postgres/.s.PGSQL.5432
jdbc:sqlite:/config/app.db
sqlite:////config/app.db
postgresql://localhost:5432/media
redis://127.0.0.1:6379/0
token usage: prompt 120, completion 30
tokens per second: 45.2
context of 8192 tokens
"usage":{"prompt_tokens":12,"completion_tokens":34,"total_tokens":46}
num_tokens=2048
max_new_tokens: 512
tokens_per_second=40
token limit reached
unexpected token < in JSON at position 0
Unexpected token 'export'
SyntaxError: Unexpected token '}'
parse error near token ','
end of token stream
CSRF token mismatch
refresh token rotation is on
access token has expired
the token of the page is stale
token bucket: 12 of 100 left
key frame interval: 240
primary key constraint failed: episodes.id
UNIQUE constraint failed: series.titleSlug
duplicate key value violates unique constraint "episodes_pkey"
foreign key mismatch
key not found in cache
missing key in dictionary
KeyError: 'seasons'
press any key to continue
hot key ctrl+shift+p
keyring is locked
keys rotated
public key accepted
host key verification failed
api key required
API key is missing
invalid api key
Invalid API Key provided
no api key configured
the api key was rejected by the indexer
API key validation failed with status 401
unauthorized: check the api key
password authentication failed for user "riven"
FATAL: password authentication failed for user "postgres"
FATAL: no pg_hba.conf entry for host "172.18.0.4", user "riven", database "riven"
password too short
password expired
passwords do not match
forgot password?
secret rotation is disabled
secret manager is not used
secrets are redacted
credentials were refused
credentials could not be read
credentials: invalid
authorization required
authentication backend: file
basic auth is off
Basic Authentication failed
bearer realm missing
cookie consent is shown
cookies: 0
set cookie failed
session store: memory
session timed out
sessions: 12
client id is not set
device is busy: /dev/fuse
devices: cuda:0
/devices/pci0000:00/0000:00:1f.2
/dev/disk/by-uuid/0a3407de-014b-458b-b5c1-848e92a327a3
/api/servers/list
server id is not known
claim the server first
this server is not claimed
unclaimed
account: local
account is locked
account names are hidden
user name is not known
users: 3
webhook delivered in 12 ms
webhook is off
http://localhost:8989/api/webhooks
hooks are disabled
/usr/lib/node_modules/npm/bin/npm-cli.js
npm_config_loglevel=notice
npm_lifecycle_event=start
hf_home=/data/models
sk_test is no prefix here
SG is a country
ASIA/Tokyo
Asia/Tokyo
TZ=Asia/Singapore
asiatic
tk_window
r8_x
pplx is short
xai
hvs
gsk-file
$2 was paid
cost: $5 or $6
price $1$ off
\${HOME}/bin
$PATH
{SSHA
-----BEGIN
----- END OF LOG -----
---------------- BEGIN ----------------
eyJ0
eyJ is how JSON begins in base64
eyes
ABCDEFGHIJKLMNOPQRSTUVWXYZ
abcdefghijklmnopqrstuvwxyz0123456789
aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa
0123456789012345678901234567890123456789
00000000-0000-0000-0000-000000000000
/usr/local/share/ca-certificates/extra.crt
certificate has expired
x509: certificate signed by unknown authority
ssl3_get_record:wrong version number
cipher ECDHE-RSA-AES256-GCM-SHA384
TLSv1.3, X25519, AES-256-GCM
ssh-ed25519 is supported
SHA-256 is used
sha512 checks out
base64 is an encoding
Content-Transfer-Encoding: base64
data:image/png;base64,iVBORw0KGgo=
iVBORw0KGgoAAAANSUhEUgAA
AAECAwQFBgcICQoLDA0ODw==
cpu_percent=12.5 rss=104857600 pid=4242
read_bytes=1048576 write_bytes=524288
uptime 12 days 03:04:05
load average: 0.42, 0.36, 0.30
/dev/sda1 ext4 98% /mnt/media
203.0.113.10:8096
fe80::1ff:fe23:4567:890a
00:1a:2b:3c:4d:5e
+49 30 123456
2026-01-02
03:04:05,678
Jan  2, 2026 03:04:05
1767322445
1767322445678
v1.2.3-beta.4+build.5
Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36
user-agent: Stackwarden/0.1.0
accept: application/json
content-type: application/json; charset=utf-8
x-request-id: 42
x-forwarded-for: 203.0.113.1
x-ratelimit-remaining: 0
retry-after: 30
cache-control: no-store
a password manager
passkey
passive mode
passing 12 of 12
pass 2 of 3
pass: true
bypass the cache
compass
trespass
auth service is ready
author: Ann
authoritative answer
oauth callback
oauth2 is off
code=0
exit code=137
country_code=DE
error_code: 500
status_code=200
zipcode: 10115
sigterm received
signal=SIGKILL
signature is valid
signed by the vendor
design=2
plex is not installed
plex: started
emby and jellyfin
Decypharr v1.0.6
rclone mount remote: /mnt/remote --vfs-cache-mode full
rclone: vfs cache: cleaned: objects 12 (was 14)
zurg: 4521 torrents
transport endpoint is not connected: /mnt/debrid
1080p
HEVC 10bit
S01E01
tt0903747
tmdb:1399
tvdb-121361
imdb id tt0944947
library section 2
`
  .trim()
  .split('\n');

export const HARMLESS: readonly string[] = [...HARMLESS_LINES, ...FURTHER];
