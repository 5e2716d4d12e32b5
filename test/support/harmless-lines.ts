// Lines that look like secrets and hold none: what masks secrets must leave them byte for byte.

export const HARMLESS_LINES: readonly string[] = `
INFO normal startup message
tokens used: 5
total_tokens: 12
max_tokens=4096
"prompt_tokens": 120
token bucket refilled
{"msg": "a bad token", "value": "5"}
expected one of 'password', 'token', got: value: 5 of 7
tokenizer: fast
Tokenizer=fast
the token has expired
token: missing
Invalid token: expected string
your token is invalid
no token was sent
token expired, refreshing
mytoken: 5
the password was changed
password: required
password: must have 8 to 256 characters
passwordless: yes
password_file=/run/secrets/db
password reset mail sent
matrixs://user:password@host/#room, or rockets://user_id:token@host/#channel
wrong user name or password
A password has 8 to 256 characters
passed: 12 failed: 0
pass: 12
tests pass: 120, fail: 3
pass=12 fail=0
bypass: on
bypass=1
compass: north
PWD=/srv/media
{"PWD":"/srv/media","OLDPWD":"/srv"}
OLDPWD=/srv
pwd: /data
passthrough=on
passport: stamped
secretary = Ann
secrets: none
the secret is out
secret=
password=""
password: ''
token: null
"token": null
api_key: undefined
api key: not set
apikey=false
api_key: true
key: value
key=abc
primary_key: id
foreign_key=user_id
cache_key=series
config_key: sonarr
key_type: string
keyboard=qwerty
monkey=banana
turkey: roast
keys=4
keyframe=240
hotkey=ctrl+s
sort_key=title
partition_key: day
keystone: up
credentials: none
credentials are missing
authentication is disabled
authentication: off
authorized=true
author=Ann
authority: local
auth: none
basic_auth: true
oauth: on
basic authentication is used
basic settings are loaded
Basic subscription.
bearer authentication is required
the bearer token is missing
authorization failed
cookies are enabled
cookie banner was closed
claim: accepted
reclaimed: 5
disclaimer=shown
jwt is used
session: 12
session started
session closed after 12 s
sessions=4
identifier=abc
identified by name
device: sda1
devices: 4
server started at 10:04:01
server: nginx
server_name=localhost
server id
client: 127.0.0.1
account created
user: bob
username: bob
user=bob
user@localhost
user@host:22
root@pam
git@github
a@b
@ 10:00
foo @ bar
http://localhost:8080/a@b
http://localhost:8080/path?page=2
https://example.org/@user/post
ssh://git@github.com/a/b
postgres://db:5432/x
GET /a?codec=h264&page=2
GET /a?keyword=x&sort=title
GET /a?design=1&signal=2
GET /token HTTP/1.1 200
GET /api/keys 200 12ms
POST /auth/login 200
POST /auth/token 401
open /run/secrets/db_password
reading /etc/passwd
read secrets.yml
--no-password prompt
--password-file /run/secrets/db
--token-file=/run/t
--key value
- token of the user
use --token to log in
sk-learn is installed
risk-assessment-1234567890
disk-sda1-0123456789
task-1234567890abc
ghp_ is a prefix
AIza
xox
claim-based access
eyJ
eyJhbGciOiJI
curl -u bob http://localhost
curl --user-agent a:b http://localhost
curl http://localhost && docker run -u 1000:1000 image
["password", "token"]
("api_key", "client-secret")
["Authorization", "Content-Type", "X-Api-Key", "Accept"]
<password type="text"></password>
key exchange done
ssh key: ok
public_key: ok
the API key is not set
keepalive=75
1.2.3.4:5678
2026-01-02 03:04:05 INFO [import] something happened with an item of the library of films
Traceback (most recent call last):
{"level":"info","msg":"user logged in","user":"bob"}
<user>bob</user>
<key>name</key>
<token/>
the password is required
the password is too short
password is 8 characters long
password for bob is wrong
a password for the session is made
TZ=Asia/Kolkata
ASIAPACIFICREGIONS
import { useLibrary } from './hooks/useLibraryOfFilmsAndSeries'
GET /hooks/list 200
see https://ntfy.sh/docs
ntfys://host/topic, or ntfy://topic
key: movies
{"key": "libraryOfFilmsAndShows", "value": 5}
{"key": ["a1b2c3d4e5f6a7b8", "b"]}
cache key: a1b2c3d4e5f6a7b8c9d0
realdebrid: 2026-11-27T13:20:21.000Z
"realdebrid": {"enabled": true}
TorBox: checked 1234567890123456 links
POST /notify/everybody
libgtk_widget_show_all
GET https://ntfy.example.com/v1/health 200
waiting for http://ntfy:80
cache key=movie:123
lookup key=S01E02-1080p-WEB-GROUP-12345678901234
foreign key=movie_id_12345678901
sort key=releaseDate
realdebrid=enabled
realdebrid: healthy
torbox=3
npm_config_cache=/root/.npm
hf_hub is installed
slack://open
discord://channels
unpacked films.zip in 3 s
library of films
bottom-1234567
passkey: enabled
docker compose up -d
monkey="banana"
token
password
secret
users.json cannot be used: missing or not of the expected form: users.0.password
dumb.plex_token: Invalid input: expected string, received number
plex_token: Too small: expected string to have >=1 characters
the variable PLEX_TOKEN is not used: plex.plex_token takes a number; correct or remove the variable
zurg.passwrd: there is no key 'passwrd'; 'password' is probably meant
zurg.api_keys: there is no key 'api_keys'; 'api_key' is probably meant
plex.token: there is no key 'token'; 'tokens' is probably meant
plex: nothing reads 'plex_token', 'password'
no copy of users.json could be made
tokens of this run end with it: /config/users.json cannot be written (no space left on device); nothing was changed
Too many logins at once; try again in a moment
Authentication required
Invalid or expired token
Wrong user name or password
refresh_token: Invalid input: expected string, received undefined
body.refresh_token: it is missing
body.password: it must be text, not a number
api_key: it must not be empty
token: it has none of the forms that it may have
username: Invalid input: expected string, received undefined; password: Invalid input: expected string, received undefined
'first' was not logged in: Wrong user name or password
`
  .trim()
  .split('\n');
