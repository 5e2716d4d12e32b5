// Line 17: every form in which programs write secrets is masked, harmless text stays byte for byte, in linear time.
import { readdir, readFile } from 'node:fs/promises';
import t from 'tap';
import { redact } from '../../core/kit/redact.ts';
import { HARMLESS_LINES } from '../support/harmless-lines.ts';

const SECRET = 'hunter2x9Q';

/** The sign § stands for the secret. */
const forms = String.raw`
password=§
password: §
password = §
password := §
PASSWORD=§
Password: §
dbPassword=§
db_password=§
dbpassword=§
DB_PASSWORD=§
PGPASSWORD=§
MYSQL_PWD=§
POSTGRES_PASSWORD: §
spring.datasource.password=§
passwd=§
passphrase: §
passcode=§
pass=§
db_pass=§
webdavPass: §
rc-pass: §
"pass": "§"
Pwd=§;Database=x
user_pwd=§
token=§
token: §
accessToken=§
access_token: §
access token: §
refreshToken: §
authtoken=§
auth-token: §
AUTH_TOKEN=§
id_token=§
PLEX_TOKEN=§
plexToken=§
PlexOnlineToken="§"
session_token=§
tokens: §
bearerToken: §
csrf_token=§
secret=§
mysecret=§
client_secret=§
clientSecret: §
client-secret: §
jwtSecret: §
JWT_SECRET=§
secret_key=§
secretKey: §
SECRET_KEY=§
aws_secret_access_key = §
secret access key: §
apikey=§
apiKey: §
ApiKey=§
api_key=§
api-key: §
api key: §
API Key: §
API_KEY=§
SONARR__API_KEY=§
x_apikey=§
api_keys: §
private_key=§
privateKey: §
encryption_key=§
ENCRYPTION KEY: §
encryptKey=§
session_key=§
master_key=§
signing-key: §
sentry_key=§
debrid_key: §
tunnel_key=§
AccountKey=§;EndpointSuffix=x
rd_key=§§
credentials: §
credential=§
creds=§
jwt=§
SENTRY_DSN=§
totp=§
session_id=§
sessionId: §
plex_claim: §
PLEX_CLAIM=§
redis_auth=§
npm_config__auth=§
password_hash=§
"password": "§"
"password":"§"
'password': '§'
'password' => '§'
"password" : "§ §"
${'`'}password${'`'}: ${'`'}§${'`'}
{"api_key": "§", "n": 1}
{\"password\":\"§\"}
{\"apiKey\": \"§\"}
{\\\"token\\\":\\\"§\\\"}
{password: §, user: bob}
{Password:§ User:bob}
password='§'
password="a \" §"
password="§
["password"] = "§"
settings['secret'] = '§'
<ApiKey>§</ApiKey>
<password>§</password>
<app:AuthToken>§</app:AuthToken>
<add key="ApiKey" value="§" />
<key>Password</key><string>§</string>
<server token="§"/>
password%3D§
--password §
--password=§
--rc-pass=§
--rc-pass §
-token §
--api-key §
--tunnel-token '§'
--client-secret "§"
["--token", "§"]
['run', '--api-key', '§']
ALTER USER bob WITH PASSWORD '§'
api_keys: ["§", "§x"]
Authorization: Digest §
Authorization: token §
"authorization": "§"
{\"Authorization\":\"§\"}
Proxy-Authorization: §
Cookie: sid=§
Set-Cookie: sid=§; Path=/
X-Plex-Token: §
x-api-key: §
X-Auth-Token=§
X-Plex-Client-Identifier: §
sent Bearer §abc
sent bearer: § token=§
sent basic §==
GET /a?apikey=§&page=2
GET /cb?code=§#top
GET /a?page=1&X-Plex-Token=§
GET /a?key=§
GET /a?sig=§
GET /a?X-Amz-Signature=§
GET /a?auth=§&b=1
GET /a?access_token=§
GET /a?a=1&pass=§
postgres://bob:§@db:5432/x
https://:§@redis
amqp://user:pa@§@mq/vhost
https://§§@github.com/a/b
ghp_§00000000000000
gho_§00000000000000
github_pat_§0000000000000
glpat-§000000000000
sk-§0000000000000000
sk-proj-§0000000000000000
xoxb-1-§0000
AIza§0000000000000000000000
AKIAHUNTER2X9Q00000
claim-§000000000
got eyJhbGciOiJI.eyJzdWIiOi.§
https://discord.com/api/webhooks/1234/§
https://hooks.slack.com/services/T0/B0/§
-----BEGIN PRIVATE KEY-----§-----END PRIVATE KEY-----
-----BEGIN RSA PRIVATE KEY-----\n§
mail from §@mail.example.org.
{"name":"apiKey","value":"§"}
[{"order":1,"name":"password","label":"Password","value":"§"}]
{ name: 'apiKey', value: '§' }
{\"key\":\"token\",\"value\":\"§\"}
Config { api_key: Some("§"), n: 1 }
password=SecretStr('§')
SITE_COOKIE=§
"session_cookies": "§"
X-Auth-Key: §
-----BEGIN PGP PRIVATE KEY BLOCK-----§
machineIdentifier="§"
clientIdentifier=§
device_id: §
serverUuid=§
plex username: §
curl -u bob:§ http://localhost
curl -ubob:§ http://localhost
curl -u'bob:§' http://localhost
curl -u "bob:§ §" http://localhost
curl -sSu bob:§ http://localhost
curl --user bob:§ http://localhost
curl --user=bob:§ http://localhost
curl -U bob:§ http://localhost
curl --proxy-user 'bob:§' http://localhost
["curl", "-u", "bob:§"]
{\"args\":[\"curl\",\"--user\",\"bob:§\"]}
["x-api-key","§"]
[["accept","*/*"],["X-Plex-Token", "§"]]
["Host","localhost","X-Api-Key","§","Accept","*/*"]
"rawHeaders":["Cookie","sid=§; a=\"§\""]
[\"authorization\",\"MediaBrowser Token='§'\"]
[(b'x-api-key', b'§')]
[('user', 'bob'), ('password', '§')]
("apiKey", "§")
<ApiKey xmlns="urn:x" type='string'>§</ApiKey>
<ApiKey><![CDATA[§]]></ApiKey>
sshpass -p § ssh bob@host
sshpass -p§ ssh host
sshpass -v -p '§' rsync
["sshpass", "-p", "§", "ssh"]
mysql -u root -p§ db
mysqldump -uroot -p'§' db
/usr/bin/mariadb-dump -p"§ §" db
redis-cli -a § ping
redis-cli -h host -a '§'
docker login -u bob -p § registry
7z x -p§ a.7z
unrar x -p§ a.rar
unzip -P § a.zip
mosquitto_pub -u bob -P '§' -t topic
curl -b 'sid=§' http://localhost
curl --cookie sid=§ http://localhost
GET /a;jsessionid=§
JSESSIONID=§
PHPSESSID=§; path=/
passkey=§
rsskey: §
https://localhost/realdebrid=§§/manifest.json
torbox=§§
https://discordapp.com/api/v10/webhooks/1234/§
https://hooks.slack.com/workflows/T1/A1/1/§
https://tenant.webhook.office.com/webhookb2/§@g/IncomingWebhook/x
https://localhost/hooks/§§§
https://maker.ifttt.com/trigger/x/with/key/§
POST https://ntfy.sh/§
POST https://ntfy.home.example.com/§ 200
published to http://ntfy:8080/§/json
NTFY_TOPIC=§
ntfy topic: §
asked with key=§000000
tgram://123456789:§/1
discord://123456789/§
gotifys://localhost/§
https://api.telegram.org/bot123456789:§§§§/sendMessage
ASIAHUNTER2X9Q0000
hf_§00000000000000000000
gsk_§0000000000000000
dop_v1_§00000000000000000000
tskey-auth-§-000000
POST https://push.example.org/backups?auth=§
http://apprise:8000/notify/§§
ntfy://localhost/§
{"key": "§000000"}
{\"key\": \"§000000\"}
"realdebrid": "§§"
'torbox': '§§'
Your password is: §
the initial password is §
A temporary password is provided for this session: §
password for admin is '§'
`;

const linesOf = (table: string): string[] => table.trim().split('\n');

t.test('forms of secrets', async t => {
  const lines = linesOf(forms);
  t.ok(new Set(lines).size >= 120);
  for (const form of lines) {
    const redacted = redact(form.replaceAll('§', SECRET));
    t.notMatch(redacted, SECRET, form);
    t.match(redacted, '[REDACTED]', form);
    t.equal(redact(redacted), redacted, `${form}, twice`);
    const within = `2026-01-02 03:04:05 INFO before it ${form.replaceAll('§', SECRET)}`;
    t.notMatch(redact(within), SECRET, within);
    t.ok(redact(within).startsWith('2026-01-02 03:04:05 INFO before it '), within);
  }
});

t.test('a line of a file that names a key alone, and an address of ntfy by any name', async t => {
  for (const form of ['key: §', '  key: "§"', '- key: §', 'a: 1\n  key: §\nb: 2', "'key': '§'"]) {
    const text = form.replace('§', `${SECRET}000000`);
    t.equal(redact(text), form.replace('§', '[REDACTED]'), form);
  }
  const token = 'tk_AgQdq7mVBoFD37zQVN29RhuMzNIz2';
  for (const form of ['https://push.example.org/§', 'GET /backups/json?tk=§&poll=1', 'used §', 'user=§'])
    t.equal(redact(form.replace('§', token)), form.replace('§', '[REDACTED]'), form);
  t.equal(redact('sent to ntfys://push.example.org/backups'), 'sent to ntfys://[REDACTED]');
});

t.test('what stands behind a key in an address stays', async t => {
  const line = `GET /sort=size|realdebrid=${SECRET}00|limit=5/stream/tt1.json 200`;
  t.equal(redact(line), 'GET /sort=size|realdebrid=[REDACTED]|limit=5/stream/tt1.json 200');
  t.equal(redact(`/realdebrid=${SECRET}00/manifest.json`), '/realdebrid=[REDACTED]/manifest.json');
});

t.test('harmless text', async t => {
  t.ok(new Set(HARMLESS_LINES).size >= 120);
  for (const text of HARMLESS_LINES) t.equal(redact(text), text, text);
});

t.test('what is a login to curl is a user and a group to others', async t => {
  for (const text of ['docker run --user app:staff image', 'install -u bob:staff']) t.equal(redact(text), text, text);
});

t.test('options that are no passwords of their program', async t => {
  for (const text of [
    'docker run -p 8080:80 -v /var/lib/mysql:/data image',
    'mysql -p db',
    'mysql -P 3306 -h db',
    'mysqldump db > a.sql; mkdir -pv /srv/backups',
    'service mysql restart && ssh -p2222 host',
    'tar xf a.zip -P',
    'rsync -a /srv /mnt && redis-cli ping',
    'curl -b cookies.txt http://localhost',
    'sshpass -f /run/secrets/ssh -p',
  ])
    t.equal(redact(text), text, text);
  t.match(redact('sshpass -p hunter2x9Q ssh -p 2222 host'), /ssh -p 2222 host$/);
});

t.test('the words of our own messages', async t => {
  const root = new URL('../../', import.meta.url);
  const messages = new Set<string>();
  for (const directory of ['core', 'plugins']) {
    const names = await readdir(new URL(directory, root), { recursive: true });
    for (const name of names.filter(found => found.endsWith('.ts'))) {
      const source = await readFile(new URL(`${directory}/${name}`, root), 'utf8');
      // What a template fills in is not known; a word stands for it.
      for (const [, , text = ''] of source.matchAll(
        /(?:Problem\(\d{3},|Error\(|\.(?:debug|info|warn|error)\()\s*(['`])((?:[^'`\\\n]|\\.)+)\1/g,
      ))
        messages.add(text.replaceAll(/\$\{[^{}]*\}/g, 'something'));
    }
  }
  t.ok(messages.size > 200, `${messages.size} messages`);
  for (const message of messages) t.equal(redact(message), message, message);
});

/** Each is repeated to two mebibytes without a blank between, or with the one it has. */
const nearMatches = [
  'a-',
  'a.',
  'a+',
  'x-',
  'eyJ',
  'eyJ-',
  'token',
  'token-',
  'token      ',
  'token: ',
  'token=[',
  'token\\\\',
  'a@',
  'a@1.1.',
  'password="',
  "password='",
  'password="\\',
  '{\\"password\\":',
  ' --a',
  ' --token ',
  '://',
  '://a:b',
  '?',
  '\\"',
  'bearer ',
  'sk-',
  'sk-a',
  'ghp_',
  '-----BEGIN PRIVATE KEY-----',
  'x-token ',
  '<token>',
  '_key',
  '_key=',
  'a_key=1',
  '?a.token',
  '&x',
  '/api/webhooks/1/',
  'authorization ',
  '1234567:AA',
  'pass',
  'plex user',
  'secret access ',
  'eyJaaaaaaaaaa',
  "'token', value",
  'token=a(',
  '"token",',
  '["token",\'',
  '("token","a',
  '"cookie","',
  '"x-token","\\',
  'curl -u ',
  'curl -u "a:',
  ' -u a:b',
  '<token a="b"',
  '<token><![CDATA[',
  'mysql -pa ',
  ' -p',
  ' -a "a ',
  'redis-cli -a "',
  'curl -b a=',
  'password is ',
  'password for a is ',
  '/hooks/a',
  'bot1234567:',
  'realdebrid=',
  'realdebrid=/',
  'realdebrid=a1/',
  'key=',
  'key=a1',
  'ntfy.',
  'ntfy.a',
  '://ntfy:1',
  'tgram://',
  'ASIA',
  'key:',
  'key: ',
  '{key: a1',
  ',\t"key":a1',
  '"torbox":a1-',
  '/notify/a',
  'ntfy://',
  'tk_',
];
const MEBIBYTE = 1_048_576;

t.test('two mebibytes of near matches', async t => {
  for (const shape of nearMatches) {
    const text = `user curl token @ ${shape.repeat((2 * MEBIBYTE) / shape.length)}`;
    const before = process.cpuUsage();
    redact(text);
    // Patterns that look at every rest of the text need many seconds; the others some tenths.
    t.ok(process.cpuUsage(before).user < 5_000_000, `${shape} repeated`);
  }
});
