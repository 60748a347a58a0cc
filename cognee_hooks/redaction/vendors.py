"""Secrets that are known by their own shape, wherever they stand.

Each row says what the vendor publishes of its format: a fixed beginning, an alphabet, a length. The
fixed beginning is looked for first, as a plain string, so that a text without it costs nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class VendorRule:
    """One kind of secret.

    Attributes:
        name: Kind, as it stands in the tag.
        hints: Strings one of which every secret of this kind holds.
        pattern: The secret; where it has a group, only the group is cut.
    """

    name: str
    hints: tuple[str, ...]
    pattern: re.Pattern[str]


_LETTERS = re.compile(r"[A-Za-z0-9]{2,}(?![*+?{])")


def _rule(name: str, hints: str, pattern: str, *, edge: bool = True) -> VendorRule:
    """Make a row; ``edge`` asks that no letter or digit stands directly before.

    Letters that begin a pattern are found many times faster where nothing comes before them, so
    the question is asked behind them.
    """
    letters = _LETTERS.match(pattern)
    first = letters[0] if letters is not None else ""
    before = first + _edge(first) if edge else first
    return VendorRule(name, tuple(hints.split()), re.compile(before + pattern[len(first) :]))


def _edge(first: str) -> str:
    """Return what asks that no letter stands before ``first``, save of an escaped character."""
    return (
        rf"(?:(?<![A-Za-z0-9]{first})|(?<=\\[nrt]{first})"
        rf"|(?<=%[0-9A-Fa-f][0-9A-Fa-f]{first})|(?<=\\u[0-9a-f]{{4}}{first}))"
    )


_B = r"[A-Za-z0-9_-]"
_HEX = r"[0-9a-f]"
_UUID = r"[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}"

VENDOR_RULES: tuple[VendorRule, ...] = (
    # Clouds
    _rule(
        "aws-access-key-id",
        "AKIA ASIA ABIA ACCA",
        r"(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}(?![A-Za-z0-9])",
    ),
    _rule(
        "aws-session-token",
        "IQoJb3Jp FwoGZXIv FQoGZXIv",
        r"(?:IQoJb3Jp|FwoGZXIv|FQoGZXIv)[A-Za-z0-9+/%]{60,}={0,2}",
    ),
    _rule(
        "aws-bedrock-key",
        "ABSK bedrock-api-key-",
        r"(?:ABSK[A-Za-z0-9+/]{60,}={0,2}|bedrock-api-key-[A-Za-z0-9+/=_-]{20,})",
    ),
    _rule("aws-mws-key", "amzn.mws.", rf"amzn\.mws\.{_UUID}"),
    _rule("google-api-key", "AIza", rf"AIza{_B}{{30,}}"),
    _rule("google-oauth-access", "ya29.", r"ya29\.[A-Za-z0-9_.-]{20,}"),
    _rule("google-oauth-refresh", "1//", r"1//0[A-Za-z0-9_-]{30,}"),
    _rule("google-client-secret", "GOCSPX-", rf"GOCSPX-{_B}{{20,}}"),
    _rule("azure-ad-secret", "Q~", r"[A-Za-z0-9_.~-]{3}\dQ~[A-Za-z0-9_.~-]{30,36}"),
    _rule("azure-devops-token", "AZDO", r"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4}"),
    _rule(
        "azure-sas",
        "AccountKey= SharedAccessKey= SharedSecret=",
        r"(?:AccountKey|SharedAccessKey|SharedSecret)\s*=\s*([A-Za-z0-9+/]{20,}={0,2})",
    ),
    _rule(
        "azure-key",
        "APIM ASbD AzFu AzSe AzCa AIoTC ACDbE",
        r"[A-Za-z0-9+/]{30,76}(?:APIM|ACDb|\+ABa|\+AMC|\+ASt|AzFu|AzSe|AzCa|AIoT|ASbD|AEhD|\+ARm|ACRD)[A-Za-z0-9+/]{5}[AQgw]?={0,2}",
    ),
    _rule("digitalocean", "dop_v1_ doo_v1_ dor_v1_", rf"do[opr]_v1_{_HEX}{{64}}"),
    _rule("heroku", "HRKU-", rf"HRKU-{_B}{{30,}}"),
    _rule("cloudflare-origin-ca", "v1.0-", rf"v1\.0-{_HEX}{{24}}-{_HEX}{{146}}"),
    _rule("cloudflare-token", "cfut_ cfat_ cfk_", rf"cf(?:ut|at|k)_{_B}{{30,}}"),
    _rule("alibaba-access-key", "LTAI", r"LTAI[A-Za-z0-9]{12,24}(?![A-Za-z0-9])"),
    _rule("tencent-secret-id", "AKID", r"AKID[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    _rule("ibm-cloud", "ApiKey-", rf"ApiKey-{_UUID}"),
    _rule(
        "yandex-cloud",
        "AQVN YCA t1.",
        r"(?:AQVN[A-Za-z0-9_-]{35,38}|YC[AMNP][A-Za-z0-9_-]{30,40}|t1\.[A-Z0-9a-z_-]+[=]{0,2}\.[A-Z0-9a-z_-]{86}[=]{0,2})",
    ),
    _rule("scaleway", "SCW", r"SCW[A-Z0-9]{17}(?![A-Za-z0-9])"),
    _rule(
        "flyio",
        "fm1 fm2_ fo1_",
        r"(?:fo1_[\w-]{43}|fm1[ar]_[A-Za-z0-9+/]{80,}={0,3}|fm2_[A-Za-z0-9+/]{60,}={0,3})",
    ),
    _rule("vercel", "vcp_ vci_ vca_ vcr_ vck_", r"vc[piark]_[A-Za-z0-9]{24,}"),
    _rule("netlify", "nfp_ nfc_ nfo_ nfu_ nfb_", rf"nf[pcoub]_{_B}{{30,}}"),
    _rule("render", "rnd_", r"rnd_[A-Za-z0-9]{20,}"),
    _rule(
        "supabase",
        "sbp_ sb_secret_ sb_publishable_",
        rf"(?:sbp_(?:v0_)?{_HEX}{{40}}|sb_secret_{_B}{{20,}})",
    ),
    _rule("neon", "napi_", r"napi_[a-z0-9]{40,}"),
    _rule("planetscale", "pscale_", r"pscale_(?:tkn|oauth|pw)_[A-Za-z0-9=._-]{20,}"),
    _rule("databricks", "dapi dkea dose", rf"(?:dapi|dkea|dose){_HEX}{{32}}(?:-\d)?"),
    # Code hosts and package registries
    _rule("github", "ghp_ gho_ ghu_ ghs_ ghr_", r"gh[pousr]_[A-Za-z0-9_]{16,}", edge=False),
    _rule("github-fine-grained", "github_pat_", r"github_pat_[A-Za-z0-9_]{16,}", edge=False),
    _rule(
        "gitlab",
        "glpat- gldt- glrt- glcbt- glptt- glft- glimt- glagent- glsoat- gloas- glffct- GR1348941 glrtr- glwt-",
        rf"(?:gl(?:pat|dt|rt|rtr|cbt|ptt|ft|imt|agent|soat|oas|ffct|wt)-[A-Za-z0-9_.=-]{{16,}}|GR1348941{_B}{{20,}})",
    ),
    _rule(
        "bitbucket",
        "ATBB ATCTT3",
        r"(?:ATBB[A-Za-z0-9]{24,}|ATCTT3xFfG[A-Za-z0-9+/=_-]{60,}(?:=[A-F0-9]{8})?)",
    ),
    _rule("atlassian", "ATATT3", r"ATATT3[A-Za-z0-9+/_=-]{50,}"),
    _rule("npm", "npm_", r"npm_[A-Za-z0-9]{36}"),
    _rule("pypi", "pypi-", rf"pypi-{_B}{{40,}}"),
    _rule("rubygems", "rubygems_", rf"rubygems_{_HEX}{{48}}"),
    _rule("crates-io", "cio", r"cio[A-Za-z0-9]{32}(?![A-Za-z0-9])"),
    _rule("nuget", "oy2", r"oy2[a-z0-9]{43}(?![A-Za-z0-9])"),
    _rule("dockerhub", "dckr_", rf"dckr_(?:pat|oat)_{_B}{{20,}}"),
    _rule("jfrog", "AKC cmVmdGtu", r"(?:AKCp[A-Za-z0-9]{10,}|cmVmdGtu[A-Za-z0-9]{50,})"),
    _rule("clojars", "CLOJARS_", r"CLOJARS_[a-z0-9]{60}"),
    _rule("packagist", "packagist_", r"packagist_(?:[a-z]+_)?[a-f0-9]{50,}"),
    _rule("hex-pm", "hexp_", r"hexp_[A-Za-z0-9]{20,}"),
    _rule("pub-dev", "pub-dev", r"pub-dev-[A-Za-z0-9]{30,}"),
    # Models
    _rule("anthropic", "sk-ant-", rf"sk-ant-{_B}{{16,}}", edge=False),
    _rule("openai", "sk-", r"sk-(?:proj|svcacct|admin|None)-[A-Za-z0-9_-]{16,}"),
    _rule("openai", "T3BlbkFJ", r"sk-[A-Za-z0-9_-]{10,200}T3BlbkFJ[A-Za-z0-9_-]{10,}"),
    _rule(
        "api-key",
        "sk-",
        r"sk-(?:or-v1-|lf-|kimi-)?(?=[A-Za-z0-9-]{0,80}\d)(?=[A-Za-z0-9_]{16}|[0-9a-f]{8}-)[A-Za-z0-9_-]{16,}",
    ),
    _rule("langfuse", "pk-lf-", rf"pk-lf-{_UUID}"),
    _rule(
        "langsmith", "lsv2_ ls__", r"(?:lsv2_(?:pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}|ls__[0-9a-f]{32})"
    ),
    _rule("huggingface", "hf_ api_org_", r"(?:hf_[A-Za-z0-9]{30,}|api_org_[A-Za-z0-9]{30,})"),
    _rule("replicate", "r8_", r"r8_[A-Za-z0-9]{30,}"),
    _rule("groq", "gsk_", r"gsk_[A-Za-z0-9]{40,}"),
    _rule("xai", "xai-", r"xai-[A-Za-z0-9]{60,}"),
    _rule("perplexity", "pplx-", r"pplx-[A-Za-z0-9]{32,}"),
    _rule("nvidia", "nvapi-", rf"nvapi-{_B}{{40,}}"),
    _rule("jina", "jina_", rf"jina_{_HEX}{{32}}[A-Za-z0-9_-]{{20,}}"),
    _rule("anyscale", "esecret_", r"esecret_[A-Za-z0-9]{20,}"),
    _rule("google-hmac", "GOOG1E", r"GOOG1E[A-Z0-9]{50,}"),
    _rule("infura", "infura.io/", rf"infura\.io/(?:ws/)?v\d/({_HEX}{{32}})", edge=False),
    _rule(
        "alchemy",
        "alchemy",
        r"alchemy(?:api)?\.(?:com|io)/(?:nft/)?v\d/([A-Za-z0-9_-]{28,40})",
        edge=False,
    ),
    _rule("calendar-address", "/private-", rf"/private-({_HEX}{{32}})/", edge=False),
    _rule("fireworks", "fw_", r"fw_[A-Za-z0-9]{20,}"),
    _rule("together", "tgp_v1_", rf"tgp_v1_{_B}{{30,}}"),
    _rule("cerebras", "csk-", r"csk-[a-z0-9]{40,}"),
    _rule("pinecone", "pcsk_", r"pcsk_[A-Za-z0-9_]{40,}"),
    _rule("tavily", "tvly-", r"tvly-(?:dev-|prod-)?[A-Za-z0-9]{20,}"),
    _rule("firecrawl", "fc-", rf"fc-{_HEX}{{32}}"),
    _rule("elevenlabs", "sk_", rf"sk_{_HEX}{{48}}"),
    _rule("cognee", "ck_", r"ck_[A-Za-z0-9]{24,}"),
    # Chat and mail
    _rule(
        "slack",
        "xox xapp-",
        r"(?:xox[abceoprs]-(?:\d-)?[A-Za-z0-9-]{10,}|xoxd-[A-Za-z0-9%_/+=-]{20,}|xoxe\.xox[bp]-\d-[A-Za-z0-9]{20,}|xapp-\d-[A-Za-z0-9-]{20,})",
    ),
    _rule(
        "slack-webhook",
        "hooks.slack.com",
        r"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([A-Za-z0-9+/_-]{20,})",
    ),
    _rule(
        "discord-webhook",
        "/api/webhooks/",
        r"discord(?:app)?\.com/api/(?:v\d+/)?webhooks/(\d{15,21}/[A-Za-z0-9_-]{40,})",
    ),
    _rule(
        "discord-bot",
        ".",
        r"[MNO][A-Za-z0-9_-]{23,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,45}(?![A-Za-z0-9_-])",
    ),
    _rule("discord-mfa", "mfa.", r"mfa\.[A-Za-z0-9_-]{80,}"),
    _rule("telegram-bot", ":AA", r"\d{8,10}:AA[A-Za-z0-9_-]{30,}", edge=False),
    _rule(
        "teams-webhook",
        "webhook.office.com outlook.office.com",
        rf"(?:webhook|outlook)\.office\.com/webhook(?:b2)?/({_UUID}@{_UUID}/IncomingWebhook/[0-9a-f]{{32}}/{_UUID}(?:/[A-Za-z0-9_-]+)?)",
        edge=False,
    ),
    _rule(
        "google-chat-webhook",
        "chat.googleapis.com",
        r"chat\.googleapis\.com/v1/spaces/[\w-]+/messages\?(\S{20,})",
    ),
    _rule("sendgrid", "SG.", r"SG\.[A-Za-z0-9_-]{16,32}\.[A-Za-z0-9_-]{30,64}"),
    _rule("mailgun", "key- pubkey-", rf"(?:pub)?key-{_HEX}{{32}}"),
    _rule("mailgun", "-", rf"{_HEX}{{32}}-{_HEX}{{8}}-{_HEX}{{8}}(?![A-Za-z0-9-])"),
    _rule("mailchimp", "-us", rf"{_HEX}{{32}}-us\d{{1,2}}(?![A-Za-z0-9])"),
    _rule("mailchimp-transactional", "md-", r"md-[A-Za-z0-9_-]{22}(?![A-Za-z0-9_-])"),
    _rule("resend", "re_", r"re_[A-Za-z0-9]{7,}_[A-Za-z0-9]{20,}"),
    _rule(
        "sendinblue", "xkeysib- xsmtpsib-", rf"x(?:keysib|smtpsib)-{_HEX}{{64}}-[A-Za-z0-9]{{16}}"
    ),
    _rule("twilio", "SK", rf"SK{_HEX}{{32}}(?![A-Za-z0-9])"),
    _rule("twilio-account", "AC", rf"AC{_HEX}{{32}}:({_HEX}{{32}})"),
    # Money
    _rule("stripe", "k_live_ k_test_", r"[sr]k_(?:live|test)_[A-Za-z0-9]{16,}"),
    _rule("stripe-webhook", "whsec_", r"whsec_[A-Za-z0-9+/=_-]{16,}"),
    _rule(
        "square",
        "sq0 EAAA",
        r"(?:sq0(?:atp|csp|idb)-[A-Za-z0-9_-]{22,}|EAAA[A-Za-z0-9_-]{50,70}(?![A-Za-z0-9_-]))",
    ),
    _rule(
        "braintree",
        "access_token$",
        rf"access_token\$(?:production|sandbox)\${_B}{{10,}}\${_HEX}{{32}}",
    ),
    _rule(
        "shopify", "shpat_ shpca_ shppa_ shpss_ shpua_", r"shp(?:at|ca|pa|ss|ua)_[A-Za-z0-9]{32}"
    ),
    _rule("plaid", "access-", rf"access-(?:sandbox|development|production)-{_UUID}"),
    _rule("flutterwave", "FLWSECK", r"FLWSECK(?:_TEST)?-[A-Za-z0-9]{12,}(?:-X)?"),
    _rule("razorpay", "rzp_", r"rzp_(?:live|test)_[A-Za-z0-9]{14,}"),
    _rule("adyen", "AQE", r"AQE[a-z0-9A-Z]{1,5}[A-Za-z0-9+/=-]{80,}"),
    _rule("lob", "live_ test_", rf"(?:live|test)_(?:pub_)?{_HEX}{{31,35}}(?![A-Za-z0-9])"),
    _rule("easypost", "EZAK EZTK", r"EZ[AT]K[A-Za-z0-9]{54}"),
    _rule("shippo", "shippo_", rf"shippo_(?:live|test)_{_HEX}{{40}}"),
    _rule("duffel", "duffel_", r"duffel_(?:live|test)_[A-Za-z0-9_=-]{40,}"),
    # Operations
    _rule("vault", "hvs. hvb. hvr.", rf"hv[sbr]\.{_B}{{20,}}"),
    _rule("vault", "s.", r"s\.[A-Za-z0-9]{24}(?![A-Za-z0-9.(_])"),
    _rule("openshift", "sha256~", r"sha256~[A-Za-z0-9_-]{43}"),
    _rule("terraform", ".atlasv1.", rf"[A-Za-z0-9]{{14}}\.atlasv1\.{_B}{{50,}}"),
    _rule("pulumi", "pul-", rf"pul-{_HEX}{{40}}"),
    _rule(
        "doppler",
        "dp.",
        r"dp\.(?:pt|st|ct|sa|scim|audit|said)\.(?:[a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{36,}",
    ),
    _rule(
        "onepassword",
        "ops_ A3-",
        r"(?:ops_eyJ[A-Za-z0-9+/=_-]{50,}|A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})-[A-Z0-9]{5}-[A-Z0-9]{5}-[A-Z0-9]{5})",
    ),
    _rule("infisical", "st.", r"st\.[0-9a-f]{24}\.[0-9a-f]{32}\.[0-9a-f]{32}"),
    _rule("age", "AGE-SECRET-KEY-", r"AGE-SECRET-KEY-(?:PQ-)?1[A-Z0-9]{50,}"),
    _rule(
        "grafana",
        "glsa_ glc_ eyJrIjoi",
        r"(?:glsa_[A-Za-z0-9]{32}_[A-Fa-f0-9]{8}|glc_[A-Za-z0-9+/]{32,}={0,2}|eyJrIjoi[A-Za-z0-9+/]{60,}={0,2})",
    ),
    _rule(
        "newrelic",
        "NRAK- NRII- NRRA- NRJS- NRAL NRIQ-",
        r"(?:NR(?:AK|II|RA|JS|IQ)-[A-Za-z0-9_-]{19,}|[0-9a-f]{36}NRAL)",
        edge=False,
    ),
    _rule("sentry", "sntry", r"sntry[usi]_[A-Za-z0-9+/=_-]{40,}"),
    _rule("honeycomb", "hcaik_ hcamk_ hcxik_", r"hc[abcx][a-z]k_[A-Za-z0-9]{26,}"),
    _rule("dynatrace", "dt0", r"dt0[a-z]\d{2}\.[A-Z2-7]{24}\.[A-Z2-7]{64}"),
    _rule(
        "pagerduty",
        "pdus+ u+",
        r"(?:pdus\+[A-Za-z0-9_]{20}|(?<![\w+])u\+[A-Za-z0-9_-]{18}(?![\w-]))",
        edge=False,
    ),
    _rule("postman", "PMAK- PMAT-", r"(?:PMAK-[A-Fa-f0-9]{24}-[A-Fa-f0-9]{34}|PMAT-[A-Z0-9]{26})"),
    _rule("circleci", "CCIPAT_ CCIPRJ_", rf"CCI(?:PAT|PRJ)_{_B}{{20,}}"),
    _rule("buildkite", "bkua_ bkct_ bkaj_", r"bk(?:ua|ct|aj)_[A-Za-z0-9]{20,}"),
    _rule("sonarqube", "squ_ sqp_ sqa_", rf"sq[upa]_{_HEX}{{40}}"),
    _rule("launchdarkly", "sdk- api- mob-", rf"(?:sdk|api|mob)-{_UUID}"),
    _rule("harness", "pat. sat.", r"(?:pat|sat)\.[A-Za-z0-9_-]{22}\.[0-9a-f]{24}\.[A-Za-z0-9]{20}"),
    _rule("octopus", "API-", r"API-[A-Z0-9]{25,30}(?![A-Za-z0-9])"),
    _rule("tailscale", "tskey-", rf"tskey-[a-z]+-{_B}{{12,}}"),
    _rule("ngrok", "_", r"(?:cr|ak|ep|rd)_[A-Za-z0-9]{25,30}_[A-Za-z0-9]{20,25}"),
    _rule("rootly", "rootly_", rf"rootly_{_HEX}{{64}}"),
    _rule("prefect", "pnu_ pnb_", r"pn[ub]_[a-z0-9]{36}"),
    # Work
    _rule("linear", "lin_api_ lin_oauth_", r"lin_(?:api|oauth)_[A-Za-z0-9]{30,}"),
    _rule(
        "notion", "ntn_ secret_", r"(?:ntn_[A-Za-z0-9]{40,}|secret_[A-Za-z0-9]{43}(?![A-Za-z0-9]))"
    ),
    _rule("figma", "figd_ figu_ figo_", rf"fig[duo]h?_{_B}{{30,}}"),
    _rule("airtable", "pat", r"pat[A-Za-z0-9]{14}\.[0-9a-f]{64}"),
    _rule("asana", "/", r"(?<![\w/])[12]/\d{15,17}(?:/\d{15,17})?:[0-9a-f]{32}", edge=False),
    _rule("dropbox", "sl.", rf"sl\.(?:u\.)?{_B}{{60,}}"),
    _rule("contentful", "CFPAT-", rf"CFPAT-{_B}{{40,}}"),
    _rule("typeform", "tfp_", r"tfp_[A-Za-z0-9_.=-]{40,}"),
    _rule("clickup", "pk_", r"pk_\d{6,9}_[A-Z0-9]{30,}"),
    _rule("hubspot", "pat-", rf"pat-(?:na|eu)\d-{_UUID}"),
    _rule("intercom", "dG9r", r"dG9rO[A-Za-z0-9+/]{50,}={0,2}"),
    _rule("zapier-webhook", "hooks.zapier.com", r"hooks\.zapier\.com/hooks/catch/(\d+/\w+)"),
    _rule(
        "sourcegraph",
        "sgp_ sgd_ slk_",
        rf"(?:sg[pd]_(?:[A-Fa-f0-9]{{16}}_|local_)?{_HEX}{{40}}|slk_{_HEX}{{64}})",
    ),
    _rule("mapbox", "sk.eyJ", r"sk\.eyJ[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"),
    _rule("facebook", "EAA", r"EAA[A-Z][A-Za-z0-9]{80,}"),
    _rule("instagram", "IGQV IGAA", r"IG(?:QV|AA)[A-Za-z0-9_-]{80,}"),
    _rule("twitter-bearer", "AAAAAAAAAAAAAAAAAAAA", r"A{20,22}[A-Za-z0-9%]{60,}"),
    _rule("okta", "SSWS 00", r"SSWS\s+(00[A-Za-z0-9_-]{38,42})"),
    _rule("confluent", "cflt", r"cflt[A-Za-z0-9+/]{56,}"),
    _rule("posthog", "phx_ phs_", r"ph[xs]_[A-Za-z0-9]{40,}"),
    _rule("retool", "retool_", r"retool_[A-Za-z0-9]{20,}"),
    _rule("readme", "rdme_", r"rdme_[a-z0-9]{60,}"),
    _rule("deno", "ddp_ ddw_", r"dd[pw]_[A-Za-z0-9]{32,}"),
    _rule("val-town", "vtwn_", r"vtwn_[A-Za-z0-9]{20,}"),
    _rule("frameio", "fio-u-", rf"fio-u-{_B}{{60,}}"),
    _rule("persona", "persona_", r"persona_(?:production|sandbox)_[a-z0-9-]{30,}"),
    _rule("wakatime", "waka_", rf"waka_{_UUID}"),
    _rule("cargo-audit", "aio_", r"aio_[A-Za-z0-9]{28}"),
    # Tokens and hashes by standard
    _rule("jwt", "eyJ", r"eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{6,}(?:\.[A-Za-z0-9_-]*){1,3}"),
    _rule("bcrypt", "$2", r"\$2[abxy]?\$\d{2}\$[./A-Za-z0-9]{53}", edge=False),
    _rule(
        "password-hash",
        "$",
        r"\$(?:apr1|1|5|6|y|gy|7|sha1|md5)\$(?:rounds=\d+\$|[./A-Za-z0-9]{1,8}\$)?[./A-Za-z0-9]{1,30}\$[./A-Za-z0-9]{22,}",
        edge=False,
    ),
    _rule(
        "password-hash",
        "$argon2",
        r"\$argon2(?:id|i|d)\$v=\d+\$m=\d+,t=\d+,p=\d+\$[A-Za-z0-9+/]+\$[A-Za-z0-9+/]+",
        edge=False,
    ),
    _rule(
        "password-hash",
        "pbkdf2_ scrypt: {SSHA {SHA}",
        r"(?:pbkdf2_sha\d+\$\d+\$\S+\$[A-Za-z0-9+/=]{20,}|pbkdf2:sha\d+:\d+\$\S+\$[0-9a-f]{32,}|scrypt:\d+:\d+:\d+\$\S+\$[0-9a-f]{32,}|\{S?SHA\d*\}[A-Za-z0-9+/=]{20,})",
        edge=False,
    ),
)
