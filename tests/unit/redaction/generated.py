"""A second corpus: shapes of vendors and passwords in every syntax, made at run time.

Nothing here is a real secret; all come from a seeded generator.
"""

# ruff: noqa: E501, Q000, Q003 - tables of texts that are full of quotes

from __future__ import annotations

import base64
import random
import string
from collections.abc import Iterator

HEX = "0123456789abcdef"
LETTERS = string.ascii_letters
ALNUM = LETTERS + string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
URLSAFE = ALNUM + "_-"
B64 = ALNUM + "+/"

# Pieces of a shape: text, or an alphabet with a length.
Shape = tuple[str | tuple[str, int], ...]
UUID: Shape = ((HEX, 8), "-", (HEX, 4), "-4", (HEX, 3), "-a", (HEX, 3), "-", (HEX, 12))

VENDORS: dict[str, Shape] = {
    "aws-access-key-id": ("AKIA", (UPPER, 16)),
    "aws-temporary-key-id": ("ASIA", (UPPER, 16)),
    "github": ("ghp_", (ALNUM, 36)),
    "github-fine-grained": ("github_pat_", (ALNUM, 22), "_", (ALNUM, 59)),
    "gitlab": ("glpat-", (URLSAFE, 20)),
    "gitlab-ci": ("glcbt-", (ALNUM, 2), "_", (URLSAFE, 20)),
    "slack-bot": ("xoxb-", ("123456789", 12), "-", ("123456789", 12), "-", (ALNUM, 24)),
    "slack-config": ("xoxe.xoxp-1-", (ALNUM, 160)),
    "stripe": ("sk_live_", (ALNUM, 24)),
    "stripe-test": ("sk_test_", (ALNUM, 99)),
    "anthropic": ("sk-ant-api03-", (URLSAFE, 93), "AA"),
    "openai": ("sk-proj-", (URLSAFE, 74), "T3BlbkFJ", (URLSAFE, 74)),
    "deepseek": ("sk-", (HEX, 32)),
    "google": ("AIza", (URLSAFE, 35)),
    "google-client": ("GOCSPX-", (URLSAFE, 28)),
    "npm": ("npm_", (ALNUM, 36)),
    "pypi": ("pypi-AgEIcHlwaS5vcmc", (URLSAFE, 80)),
    "dockerhub": ("dckr_pat_", (URLSAFE, 27)),
    "sendgrid": ("SG.", (URLSAFE, 22), ".", (URLSAFE, 43)),
    "mailgun": ("key-", (HEX, 32)),
    "mailchimp": ((HEX, 32), "-us12"),
    "twilio": ("SK", (HEX, 32)),
    "telegram": (("123456789", 10), ":AA", (URLSAFE, 33)),
    "digitalocean": ("dop_v1_", (HEX, 64)),
    "shopify": ("shpat_", (HEX, 32)),
    "huggingface": ("hf_", (LETTERS, 34)),
    "replicate": ("r8_", (ALNUM, 37)),
    "groq": ("gsk_", (ALNUM, 52)),
    "xai": ("xai-", (ALNUM, 80)),
    "perplexity": ("pplx-", (ALNUM, 48)),
    "vault": ("hvs.", (URLSAFE, 90)),
    "terraform": ((ALNUM, 14), ".atlasv1.", (URLSAFE, 67)),
    "pulumi": ("pul-", (HEX, 40)),
    "doppler": ("dp.pt.", (ALNUM, 43)),
    "grafana": ("glsa_", (ALNUM, 32), "_", (HEX, 8)),
    "newrelic": ("NRAK-", (UPPER, 27)),
    "sentry": ("sntryu_", (HEX, 64)),
    "postman": ("PMAK-", (HEX, 24), "-", (HEX, 34)),
    "linear": ("lin_api_", (ALNUM, 40)),
    "notion": ("ntn_", (ALNUM, 46)),
    "figma": ("figd_", (URLSAFE, 40)),
    "airtable": ("pat", (ALNUM, 14), ".", (HEX, 64)),
    "databricks": ("dapi", (HEX, 32)),
    "supabase": ("sbp_", (HEX, 40)),
    "planetscale": ("pscale_tkn_", (URLSAFE, 43)),
    "tailscale": ("tskey-auth-", (ALNUM, 12), "-", (ALNUM, 32)),
    "age": ("AGE-SECRET-KEY-1", ("QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L", 58)),
    "jwt": ("eyJ", (URLSAFE, 33), ".eyJ", (URLSAFE, 60), ".", (URLSAFE, 43)),
    "square": ("sq0atp-", (URLSAFE, 22)),
    "flutterwave": ("FLWSECK_TEST-", (HEX, 32), "-X"),
    "rubygems": ("rubygems_", (HEX, 48)),
    "launchdarkly": ("sdk-", *UUID),
    "hubspot": ("pat-na1-", *UUID),
    "plaid": ("access-production-", *UUID),
    "cognee": ("ck_", (HEX, 48)),
    "langsmith": ("lsv2_pt_", (HEX, 32), "_", (HEX, 10)),
    "brevo": ("xkeysib-", (HEX, 64), "-", (ALNUM, 16)),
    "sourcegraph": ("sgp_", (HEX, 16), "_", (HEX, 40)),
    "1password": ("ops_eyJ", (ALNUM, 200)),
    "sonarqube": ("squ_", (HEX, 40)),
    "nvidia": ("nvapi-", (URLSAFE, 64)),
    "fly": ("fo1_", (URLSAFE, 43)),
    "bcrypt": ("$2y$10$", (ALNUM + "./", 53)),
}
VENDOR_PLACES = (
    "{}", "X_KEY={}", "x: {}", 'x: "{}"', '{{"x": "{}"}}', "x = '{}'", "use {} for this", "({})", "`{}`",
    "[{}]", "<{}>", "x={}&y=1", "{},", "{}; y", "curl -H 'X-Custom: {}' https://example.com", "--x {}",
    "https://example.com/?x={}", "<a>{}</a>", "{}\n{}", "a\t{}\tb", "-{}", "+{}", "|{}|", '\\"{}\\"',
    "I used {}.", "is it {}?", "{}:x", "*{}*", "x\\n{}\\ny",
)  # fmt: skip

PASSWORDS: dict[str, Shape] = {
    "word-mark-digits": (("QFTW", 1), "uartz!", (string.digits, 4), "walrus*", (LOWER, 2)),
    "word-hash-digits": ("Cobalt#", (string.digits, 4), "fjord"),
    "word-digits": ("saffron", (string.digits, 3), "Tundra", (string.digits, 2)),
    "letters-digits": ((ALNUM, 14), "7x"),
    "hex": ((HEX, 32),),
    "base64": ((B64, 43), "="),
    "uuid": UUID,
    "at-dollar": ("p@", (LOWER, 5), "$", (ALNUM, 4), "9w"),
    "percent": ("Wal%", (ALNUM, 5), "^", (string.digits, 2), "~r"),
    "plus-slash": ((ALNUM, 20), "+/", (ALNUM, 18), "3"),
}
PASSWORD_NAMES = (
    "password DB_PASSWORD dbPassword PGPASSWORD smtp_pass admin-password root.password".split()
)
KEY_NAMES = (
    "api_key apiKey API_KEY x-api-key client_secret SECRET_KEY accessToken AUTH_TOKEN aws.secretKey "
    "encryption_key webhookSecret STRIPE_PRIVATE_KEY"
).split()

# {n} is the name, {v} the value; only syntaxes in which the value needs no escaping.
ASSIGNMENTS = (
    "{n}={v}", "export {n}={v}", "export {n}='{v}'", '{n}="{v}"', "{n}: {v}", "  {n}: '{v}'", '{n}: "{v}"',
    "- {n}: {v}", '{{"{n}": "{v}"}}', '{{"a": 1, "{n}":"{v}", "b": 2}}', '{{\\"{n}\\": \\"{v}\\"}}',
    '"{{\\\\\\"{n}\\\\\\": \\\\\\"{v}\\\\\\"}}"', "{{'{n}': '{v}'}}", "{n} = '{v}'", '{n} = "{v}"', "{n} := \"{v}\"",
    "{n} = {v}", "{n}: str = '{v}'", "const {n} = '{v}';", "let {n} = `{v}`;", "'{n}' => '{v}',", ":{n} => '{v}'",
    "f({n}='{v}')", "f({n}=\"{v}\", x=1)", '<{n}>{v}</{n}>', '<add key="{n}" value="{v}" />',
    '<property name="{n}" value="{v}"/>', '"{n}=' + '{v}",', "docker run -e {n}={v} image", "ENV {n}={v}",
    "ENV {n} {v}", "ARG {n}={v}", "set {n}={v}", "$env:{n} = '{v}'", "setx {n} {v}",
    "+{n}={v}", "-{n}={v}", "> {n}={v}", "> {n}: {v}", "{n}={v}\r\nb=1\r\n", "\x1b[32m{n}\x1b[0m=\x1b[33m{v}\x1b[0m",
    "2026-01-14 09:27:33 INFO loaded {n}={v}", "#{n}={v}", "# {n}: {v}", "{n}={v} python app.py",
    '- name: {n}\n  value: {v}', '- name: {n}\n  value: "{v}"', '{{"name": "{n}", "value": "{v}"}}',
    '{{"key": "{n}", "value": "{v}", "enabled": true}}', "variable {n} {{ default = \"{v}\" }}", "{n}\t= {v}",
    "define('{n}', '{v}');", "os.environ['{n}'] = '{v}'", 'os.environ["{n}"] = "{v}"', "process.env.{n} = '{v}'",
    "UPDATE users SET {n} = '{v}' WHERE id = 1", "ALTER USER app WITH PASSWORD '{v}'", "the {n} is {v}",
    "{n}: |\n  {v}\nb: 1", "{n}: >-\n  {v}\n", "assert {n} == '{v}'", '  "{n}" = "{v}"', "{n}={v};", "Server=db;{n}={v};Port=1",
    "host=db {n}={v} port=5432", "    12\t{n}={v}", "web-1  | {n}={v}", "stdout: {n}: {v}", "{n}=&quot;{v}&quot;",
    "[{n}={v}]", "({n}: {v})", "{n}: {v}, other: x", "'{n}','{v}'", "\\n{n}={v}\\nb=1",
    "kubectl create secret generic db --from-literal={n}={v}", "az x --settings {n}={v} B=2", "helm upgrade x --set {n}={v}",
    "{n}:{v}", '"{n}":"{v}"', "setenv {n} {v}", "heroku config:set {n}={v}", '{n} "{v}"', "{n} '{v}'",
)  # fmt: skip

COMMANDS = (
    "curl -u admin:{v} https://example.com", "curl --user 'admin:{v}' https://example.com", "mysql -uroot -p{v} db",
    "mysqldump --password={v} db", "sshpass -p '{v}' ssh host", "redis-cli -h h -a {v} ping", "PGPASSWORD={v} psql -h db",
    "wget --user=a --password={v} https://e.com", "http -a admin:{v} GET https://e.com", "psql --password {v}",
    "docker login -u bot -p {v} r.example.com", "echo '{v}' | docker login -u bot --password-stdin", "echo {v} | sudo -S ls",
    "openssl enc -pass pass:{v} -in x", "ldapsearch -D cn=a -w {v} -b dc=x", "ssh-keygen -t ed25519 -N '{v}' -f k",
    "htpasswd -bc f bob {v}", "machine e.com login bob password {v}", "default login bob password {v}",
    "db.internal:5432:orders:app:{v}", "requirepass {v}", "masterauth {v}", "AUTH {v}", "bindpw {v}",
    "gpg --batch --passphrase {v} -d f", "mongosh --username a --password {v} h", "sqlcmd -S h -U sa -P {v}",
    "net use Z: \\\\srv\\share /user:bob {v}", "smbclient //srv/share -U bob%{v}", "CREATE USER a IDENTIFIED BY '{v}'",
    "CREATE ROLE a LOGIN PASSWORD '{v}'", "SET PASSWORD FOR 'a'@'%' = PASSWORD('{v}')", "unzip -P {v} f.zip",
    "az login --service-principal -u x -p {v} --tenant y", "7z x -p{v} f.7z", "keytool -storepass {v} -list",
    "ansible-playbook x.yml -e db_password={v}", "aws configure set aws_secret_access_key {v}",
    "ConvertTo-SecureString '{v}' -AsPlainText -Force", "my password is {v}", "the new passphrase: {v}",
    "log in with admin / password {v}", "password for the box is `{v}`", "psk=\"{v}\"", 'network={{\n  ssid="x"\n  psk="{v}"\n}}',
    "Authorization: Bearer {v}", "'Authorization': 'Bearer {v}'", "-H \"Authorization: token {v}\"", "Proxy-Authorization: Basic {v}",
    "Set-Cookie: session={v}; Path=/; HttpOnly", "Cookie: theme=dark; sessionid={v}", "X-Auth-Token: {v}", "X-Vault-Token: {v}",
    "pass: '{v}',", "auth: {{ user: 'a@b.c', pass: '{v}' }}", "createConnection({{host: 'h', user: 'u', password: '{v}'}})",
    "login('bob', password='{v}')", "USER=a\nPASS={v}", "PASS {v}", "spring.datasource.password={v}",
    "requests.get(u, auth=('bob', '{v}'))", "HTTPBasicAuth('bob', '{v}')", "MAIL_PASSWORD={v}", "data: {{\"password\":\"{v}\"}}",
)  # fmt: skip

URLS = (
    "postgres://app:{v}@db:5432/x", "DATABASE_URL=mysql+pymysql://root:{v}@localhost/x", "redis://:{v}@h:6379/0",
    "https://bot:{v}@git.example.com/a/b.git", "origin\thttps://x-access-token:{v}@github.com/a/b (fetch)",
    "amqps://w:{v}@mq//", "mongodb://a:{v}@h1:27017,h2:27017/x?replicaSet=r", "jdbc:postgresql://h/x?user=a&password={v}",
    "smtp://a%40b.c:{v}@mail:587", "ftp://a:{v}@h/f", "http://a:{v}@proxy:3128", '{{"url":"https://a:{v}@h/"}}',
    "https://e.com/?api_key={v}", "https://e.com/cb?code=4%2F0A&access_token={v}&x=1", "https://e.com/#access_token={v}",
    "ldap://cn=a:{v}@h", "https://e.com/f?X-Amz-Signature={v}", "https://a.blob.core.windows.net/c?sv=1&sig={v}&se=2",
    "socks5://a:{v}@h:1080", "index-url = https://a:{v}@pypi.example.com/simple", "sftp://a:{v}@h:22/x",
    "redirect=https%3A%2F%2Fe.com%2F%3Ftoken%3D{v}", "password%3D{v}%26x%3D1", "POST /login\n\nusername=bob&password={v}",
    "clickhouse://default:{v}@h:9000", "sqlserver://sa:{v}@h:1433?database=x", "Server=h;User Id=sa;Password={v};",
    "Data Source=h;Uid=a;Pwd={v}", "AccountName=a;AccountKey={v};EndpointSuffix=x", "DSN=x;UID=a;PWD={v};",
    "nats://a:{v}@h:4222", "snowflake://a:{v}@acc/db", "mssql+pyodbc://a:{v}@h/db?driver=x", "elasticsearch: https://elastic:{v}@h:9200",
)  # fmt: skip


def made(shape: Shape, random_source: random.Random) -> str:
    """Return one secret of a shape."""
    parts = (
        part if isinstance(part, str) else "".join(random_source.choices(part[0], k=part[1]))
        for part in shape
    )
    return "".join(parts)


def secrets(seed: int = 1) -> Iterator[tuple[str, str, str]]:
    """Yield texts with a secret, the secret, and what kind of text it is."""
    source = random.Random(seed)
    for kind, shape in VENDORS.items():
        for place in VENDOR_PLACES:
            secret = made(shape, source)
            yield place.format(secret, secret), secret, f"{kind} in {place}"
    for kind, shape in PASSWORDS.items():
        for place in ASSIGNMENTS:
            plain = source.choice(PASSWORD_NAMES)
            key = source.choice(KEY_NAMES)
            for drawn in (plain, key):
                name = drawn if drawn.isidentifier() or "<" not in place else "password"
                secret = made(shape, source)
                yield place.format(n=name, v=secret), secret, f"{kind} in {place}"
        for place in COMMANDS:
            secret = made(shape, source)
            yield place.format(v=secret), secret, f"{kind} in {place}"
        for place in URLS:
            secret = made(shape, source)
            if set(secret) & set("@/#?%&+=^"):
                secret = secret.translate(str.maketrans("", "", "@/#?%&+=^"))
            yield place.format(v=secret), secret, f"{kind} in {place}"
    for place in ("Authorization: Basic {}", "curl -H 'Authorization: Basic {}'", '"auth": "{}"'):
        pair = base64.b64encode(("user:" + made(PASSWORDS["hex"], source)).encode()).decode()
        yield place.format(pair), pair, f"basic in {place}"
