import { timingSafeEqual } from "node:crypto";
import { IncomingMessage, ServerResponse } from "node:http";
import { Socket } from "node:net";
import { decodeProtectedHeader } from "jose";
import { errors, interactionPolicy, Provider } from "oidc-provider";
import type { AdapterPayload, Client, Configuration, KoaContextWithOIDC } from "oidc-provider";
import library from "oidc-provider/package.json" with { type: "json" };
import { commandLineClientId, scopeFromWire, secretMatches } from "../../../access/index.ts";
import { makeBinding, ownDevice, permittedDevice, readBinding, presentAcr, presentAmr } from "../session.ts";
import { responseModes, type SignOnContract } from "../contract.ts";
import type { AnswerApp } from "./answers.ts";
import { algorithms } from "../keys/signing-keys.ts";
import {
  findOnlyPut,
  runRequest,
  sessionRuleFor,
  type Standing,
  startChange,
  startRequest,
} from "../storage/request.ts";
import type { AnsweredInteraction } from "../storage/lookup.ts";
import type { Store } from "../storage/store.ts";
import { keepDescribed } from "../mount.ts";
import { differentMechanism } from "../diagnosis.ts";
import { hmac } from "../../../platform/crypto/seal.ts";

/** Source: RFC 8252 section 7.3. */
const commandLineRedirectUri = /^http:\/\/127\.0\.0\.1:\d{1,5}\/callback$/;

type Policy = interactionPolicy.DefaultPolicy;
type Reliance = { name: string; use: string; isThere(provider: Provider, policy: Policy): boolean };

const readMember = (of: unknown, name: string): unknown => (of as Record<string, unknown> | undefined)?.[name];

const method = (name: string, use: string): Reliance => ({
  name,
  use,
  isThere: (provider) => typeof name.split(".").reduce<unknown>(readMember, provider) === "function",
});

const policyCheck = (prompt: string, check: string): Reliance => ({
  name: `the check ${check} of the prompt ${prompt}`,
  use: "removed from the policy",
  isThere: (_provider, policy) => policy.get(prompt)?.checks.get(check) !== undefined,
});

/** The undocumented parts of oidc-provider in use, all in this file; above each, the option that does not suffice. */
export const reliances: readonly Reliance[] = [
  // clientAuthMethods: a secret is taken in the header and in the body alike; no hook runs between client and grant.
  method(
    "OIDCContext.prototype.entity",
    "replaced: a client that sends its secret elsewhere than registered is refused as soon as it is known",
  ),
  // scopes: a fixed list, which registrations cannot extend by their second platform name.
  {
    name: "OIDCContext.prototype.requestParamOIDCScopes",
    use: "replaced: the library drops scopes that are not in this list",
    isThere: ({ OIDCContext }) =>
      Object.getOwnPropertyDescriptor(OIDCContext.prototype, "requestParamOIDCScopes")?.get !== undefined,
  },
  // subject_type: `pairwise` refuses redirect URIs at several hosts without a document that the app publishes.
  {
    name: "the subject type of a client",
    use: "set for an app with ids of its own as soon as it is known",
    isThere: knowsSubjectType,
  },
  // formats.customizers: for access tokens only. The audience of an ID token is written in issue().
  method("IdToken.prototype.issue", "replaced: the audience is an array"),
  { name: "IdToken.prototype.client", use: "gives issue() the audience", isThere: keepsClient },
  // findAccount: the library overwrites its acr by that of the session, which marks shared devices.
  { name: "IdToken.prototype.available", use: "gives issue() the claims", isThere: keepsClaims },
  // enabledJWA: an id_token_hint is accepted only if it has the algorithm that the app has at present.
  method(
    "IdToken.validate",
    "replaced: accepts each algorithm; checks the id_token_hint of a logout, whose audience is an array",
  ),
  method("Client.find", "finds the client of that hint"),
  // adapter: the library compares client_secret with plain text and knows neither hashes nor a second secret.
  method("Client.prototype.compareClientSecret", "replaced: compares hashes"),
  // application_type: `web` refuses schemes of an app's own, `native` allows every port of a loopback address.
  method(
    "Client.prototype.redirectUriAllowed",
    "replaced: addresses must be equal; the port is free for the command line only",
  ),
  method("Client.prototype.postLogoutRedirectUriAllowed", "replaced: the same after a logout"),
  // features.backchannelLogout, fetch: send once, while the person waits, and record nothing.
  method("Client.prototype.backchannelLogout", "replaced: logout tokens are sent by a job"),
  // cookies.long, cookies.keys: attributes and signature of a cookie. No option binds a session to a browser.
  method(
    "Session.get",
    "replaced: finds the session of a browser, also outside the library's routes, if it is bound to it",
  ),
  {
    name: "Session.IN_PAYLOAD",
    use: "replaced: a session keeps the browser that it is bound to",
    isThere: keepsFields,
  },
  method("Session.prototype.loginAccount", "replaced: binds the session; starts one where no app asks for it"),
  // interactionFinished: needs an interaction; a platform sign-in has none.
  method("Session.prototype.save", "stores that session"),
  // features.backchannelLogout: makes an id for each pair of session and app.
  method("Session.prototype.sidFor", "gives an app the session's own id as its sid, or one made from it"),
  // interactionResult: reads the interaction again, and cannot leave out its session.
  method(
    "Interaction.prototype.persist",
    "stores an interaction without its session; in the request of a form its one write is the reply",
  ),
  // registerResponseMode is documented; that the constructor calls it for its own modes, which then stay, is not.
  {
    name: "registerResponseMode in the constructor",
    use: "overridden: all response modes give the app the same parameters",
    isThere: (provider) => responseModes.every((mode) => replacedModes.get(provider)?.has(mode)),
  },
  // None: the library reads more fields of a form than the contract describes, such as `resource`.
  {
    name: "the body of a context",
    use: "keeps the fields that are described",
    isThere: assignsBody,
  },
  // interactions.policy is the option; what its base has is not documented.
  policyCheck("login", "id_token_hint"),
  policyCheck("consent", "native_client_prompt"),
  // cookies.keys: strings are used with HMAC-SHA-1; objects that sign are not documented.
  { name: "cookie signatures", use: "made with SHA-256; bind a form to a browser", isThere: signsCookies },
  // interactionFinished: stores the reply, and the browser comes back for the rest.
  { name: "the request to resume", use: "made in the request of a form: its cookie and path", isThere: resumes },
];

const replacedModes = new WeakMap<Provider, ReadonlySet<string>>();

/** Builds the provider. `answerApp` answers in every response mode. */
export function constructProvider(issuerUrl: string, configuration: Configuration, answerApp: AnswerApp): Provider {
  const modes = new Set<string>();
  class ProviderOfApps extends Provider {
    override registerResponseMode(name: string): void {
      modes.add(name);
      super.registerResponseMode(name, (ctx, redirectUri, parameters) =>
        answerApp(ctx, redirectUri, parameters as Record<string, string>),
      );
    }
  }
  const provider = new ProviderOfApps(issuerUrl, configuration);
  replacedModes.set(provider, modes);
  return provider;
}

export function checkLibrary(provider: Provider, policy: Policy = interactionPolicy.base()): void {
  const missing = reliances.filter(({ isThere }) => !isThere(provider, policy));
  if (missing.length === 0) return;
  const list = missing.map(({ name, use }) => `${name} (${use})`).join(", ");
  throw new Error(
    `oidc-provider ${library.version} lacks what src/sign-on/protocol/provider/library.ts relies on: ${list}. ` +
      "Install the version that package-lock.json names, or change that file.",
  );
}

function keepsClient(provider: Provider): boolean {
  const client = Object.create(null) as Client;
  return new provider.IdToken({}, { client }).client === client;
}

function keepsClaims(provider: Provider): boolean {
  const claims = {};
  return readMember(new provider.IdToken(claims, { client: Object.create(null) as Client }), "available") === claims;
}

function keepsFields({ Session }: Provider): boolean {
  const fields = readMember(Session, "IN_PAYLOAD");
  return Array.isArray(fields) && fields.includes("accountId");
}

function knowsSubjectType({ Client }: Provider): boolean {
  return (
    new (Client as unknown as new (metadata: object) => { subjectType?: string })({
      client_id: "probe",
      redirect_uris: ["https://probe.example"],
      token_endpoint_auth_method: "none",
    }).subjectType === "public"
  );
}

function assignsBody({ OIDCContext }: Provider): boolean {
  const Context = OIDCContext as unknown as new (ctx: object) => object;
  return !Object.hasOwn(new Context({}), "body");
}

function signsCookies(provider: Provider): boolean {
  const req = new IncomingMessage(new Socket());
  const res = new ServerResponse(req);
  const keys = keysOf(provider) as CookieSignatures | string[] | undefined;
  if (keys === undefined || Array.isArray(keys)) return false;
  provider.createContext(req, res).cookies.set("probe", "value", { signed: true });
  const expected = `probe${signatureSuffix}=${keys.sign("probe=value")};`;
  return [res.getHeader("set-cookie")].flat().some((cookie) => String(cookie).startsWith(expected));
}

function resumes(provider: Provider): boolean {
  const [uid, req] = ["probe", new IncomingMessage(new Socket())];
  try {
    const returnTo = `${provider.issuer}${provider.pathFor("resume", { uid })}`;
    const back = makeResumeRequest(provider, req, { uid, returnTo } as Interaction);
    const { cookies } = provider.createContext(back, new ServerResponse(req));
    const isFound = cookies.get(provider.cookieName("resume"), { signed: true }) === uid;
    return isFound && new URL(returnTo).pathname.endsWith(`/${uid}`);
  } catch {
    // The library throws for a cookie or a route that it does not know.
    return false;
  }
}

type Replacements = {
  platform: string;
  describedFields: SignOnContract["fields"];
  recordLogout(notice: { clientId: string; personId: string }): void;
  noteRefusedSession(ctx: BrowserContext, session: { uid: string; personId: string }): Promise<void>;
};

type BrowserContext = Parameters<Provider["Session"]["get"]>[0];
type Session = InstanceType<Provider["Session"]> & {
  browser?: string | undefined;
  standing?: Standing;
  startedAt?: number;
};

export function replaceMethods(
  provider: Provider,
  { platform, describedFields, recordLogout, noteRefusedSession }: Replacements,
): void {
  bindSessions(provider, noteRefusedSession);
  const { entity } = provider.OIDCContext.prototype;
  provider.OIDCContext.prototype.entity = function entityInOneWay(name, value) {
    entity.call(this, name, value);
    if (name !== "Client") return;
    const client = value as Client & { subjectType: string };
    if (hasOwnIds(client)) client.subjectType = "pairwise";
    if (routesOfClients.has(this.route)) checkPlaceOfSecret(client, this.body);
  };

  const bodies = new WeakMap<object, Body>();
  Object.defineProperty(provider.OIDCContext.prototype, "body", {
    get(this: KoaContextWithOIDC["oidc"]) {
      return bodies.get(this);
    },
    set(this: KoaContextWithOIDC["oidc"], body: Body) {
      const described = describedFields[this.route];
      bodies.set(this, described === undefined ? body : keepDescribed(body, described));
    },
  });

  // grant.ts checks the platform names of the request.
  Object.defineProperty(provider.OIDCContext.prototype, "requestParamOIDCScopes", {
    get(this: KoaContextWithOIDC["oidc"]) {
      return new Set([...this.requestParamScopes].filter((scope) => scopeFromWire(scope) !== null));
    },
  });

  const { validate } = provider.IdToken;
  provider.IdToken.validate = async function validateEachAlgorithm(hint, client) {
    const { alg } = decodeProtectedHeader(hint);
    const idTokenSignedResponseAlg = {
      value: algorithms.find((one) => one === alg) ?? client.idTokenSignedResponseAlg,
    };
    return validate.call(this, hint, Object.create(client, { idTokenSignedResponseAlg }) as Client);
  };

  const { issue } = provider.IdToken.prototype;
  provider.IdToken.prototype.issue = function issueWithAudienceArray(options) {
    if (options?.use === "idtoken") {
      const token = this as unknown as { client: Client; available: Available; mask: RequestedClaims };
      token.available.acr = presentAcr(platform, token.available.amr);
      token.available.amr = presentAmr(token.available.amr);
      token.available.auth_time = token.mask["auth_time"]?.value ?? token.available.auth_time;
      token.client = Object.create(token.client, { clientId: { value: [token.client.clientId] } }) as Client;
    }
    return issue.call(this, options);
  };

  Object.assign(provider.Client.prototype, {
    compareClientSecret(this: Client, presented: string): boolean {
      const hashes = this["secret_sha256"] as readonly string[];
      return secretMatches(
        hashes.map((hash) => Buffer.from(hash, "base64url")),
        presented,
      );
    },
    redirectUriAllowed(this: Client, uri: string): boolean {
      if (this.clientId === commandLineClientId) return commandLineRedirectUri.test(uri);
      return this.redirectUris?.includes(uri) ?? false;
    },
    postLogoutRedirectUriAllowed(this: Client, uri: string): boolean {
      return this.postLogoutRedirectUris?.includes(uri) ?? false;
    },
    async backchannelLogout(this: Client, personId: string): Promise<void> {
      recordLogout({ clientId: this.clientId, personId });
    },
  });
}

type Available = { acr?: string; amr?: readonly string[] | undefined; auth_time?: number | undefined };
type RequestedClaims = Readonly<Record<string, { value?: number } | null>>;

/** Whether people are to be named to the app by ids that no other app knows. */
export const hasOwnIds = (client: Client | undefined): boolean => client?.["has_own_ids"] === true;

/** Whether the app's sessions, and their times, must not be recognizable in another app. */
export const hasOwnSids = (client: Client | undefined): boolean => client?.["has_own_sids"] === true;

// A session without a binding is never found.
function bindSessions({ Session }: Provider, noteRefused: Replacements["noteRefusedSession"]): void {
  const { get } = Session;
  const fields = [...(readMember(Session, "IN_PAYLOAD") as string[]), "browser", "standing", "startedAt"];
  Object.defineProperty(Session, "IN_PAYLOAD", { value: fields });
  Session.get = async function getOfBrowser(ctx) {
    const session: Session = await get.call(this, ctx);
    const { accountId: personId, uid, browser } = session;
    if (personId === undefined || (browser !== undefined && browser === readBinding(ctx))) return session;
    await noteRefused(ctx, { uid, personId });
    const empty = new (this as unknown as new (payload: object) => Session)({});
    (ctx as Partial<KoaContextWithOIDC>).oidc?.entity("Session", empty);
    return empty;
  };
  const { loginAccount } = Session.prototype;
  Session.prototype.loginAccount = function loginAccountOfBrowser(this: Session, details) {
    const { acr: requested, accountId } = details;
    const acr = Provider.ctx ? permittedDevice(requested, sessionRuleFor(accountId)) : requested;
    const stays = acr === ownDevice;
    const goesOn = this.browser !== undefined && this.accountId === accountId && !stays;
    loginAccount.call(this, { ...details, ...(acr !== undefined && { acr }) });
    this.transient = !stays;
    if (!goesOn && Provider.ctx) this.browser = makeBinding(Provider.ctx, acr);
    // Not `loginTs`: at the login of a school somebody may have signed in hours ago.
    this.startedAt = Math.floor(Date.now() / 1000);
  };
}

const routesOfClients = new Set(["token", "introspection", "revocation"]);

type Body = Record<string, unknown>;

function checkPlaceOfSecret({ clientAuthMethod = "" }: Client, body: Body | undefined): void {
  const place = body?.["client_secret"] ? "client_secret_post" : "client_secret_basic";
  if (clientAuthMethod.startsWith("client_secret_") && clientAuthMethod !== place)
    throw new errors.InvalidClientAuth(differentMechanism);
}

export function makeBasePolicy(): Policy {
  const policy = interactionPolicy.base();
  // The library forgets the hint's ID token once a person has signed in; policy.ts does not.
  policy.get("login")?.checks.remove("id_token_hint");
  // Mobile apps with their own scheme ask for consent once, like every other app.
  policy.get("consent")?.checks.remove("native_client_prompt");
  return policy;
}

/** Changes parameters of a request, which are stored with the interaction. */
export function setParameters(ctx: KoaContextWithOIDC, params: Record<string, string | undefined>): void {
  Object.assign(ctx.oidc.params as Record<string, unknown>, params);
}

export function readIdTokenHint({ oidc }: KoaContextWithOIDC): { sub?: string } | null {
  return (oidc.entities.IdTokenHint?.payload as { sub?: string } | undefined) ?? null;
}

/** Adds claims to the ID token of this request; the library copies them into the code and the tokens. */
export function requestTokenClaims(
  { oidc }: KoaContextWithOIDC,
  claims: Record<string, { value: number } | null>,
): void {
  Object.assign((oidc.claims.id_token ??= {}), claims);
}

type NewSession = {
  personId: string;
  /** From `makeBinding`. */
  browser: string;
  amr: readonly string[];
  acr: string;
  /** When the person proved who they are, in seconds since 1970. */
  loginTs: number;
  seconds: number;
  standing: Standing;
};

export async function startSession(
  provider: Provider,
  { personId, browser, amr, acr, loginTs, seconds, standing }: NewSession,
): Promise<string> {
  const session: Session = new provider.Session();
  Object.assign(session, { browser, standing });
  session.loginAccount({ accountId: personId, loginTs, amr: [...amr], acr });
  await session.save(seconds);
  return session.jti;
}

export type Interaction = Awaited<ReturnType<Provider["interactionDetails"]>>;

export const restoreInteraction = (provider: Provider, id: string, payload: AdapterPayload): Interaction =>
  new (provider.Interaction as unknown as new (id: string, payload: AdapterPayload) => Interaction)(id, payload);

export const readInteractionId = (provider: Provider, cookies: SignedCookies): string | null =>
  cookies.get(provider.cookieName("interaction"), { signed: true }) ?? null;

type SignedCookies = { get(name: string, options: { signed: boolean }): string | undefined };

export async function forgetSession(interaction: Interaction): Promise<void> {
  Object.assign(interaction, { session: undefined });
  await interaction.persist();
}

export type Reply = NonNullable<Interaction["result"]>;

/** Adds what a person replied to an interaction, and what a sign-in is based on. */
export function addReply(interaction: Interaction, { login, ...reply }: Reply, standing?: Standing): void {
  Object.assign(interaction, { result: login === undefined ? reply : { ...reply, login: { ...login, standing } } });
}

/** Stores an interaction with its reply and returns the next path. Errors: `SessionNotFound` if it has ended. */
export async function storeReply(interaction: Interaction): Promise<string> {
  await interaction.persist();
  return interaction.returnTo;
}

/** Reads what the library needs for a reply that is not stored. Errors: `SessionNotFound` if the interaction ended. */
export async function findReply(
  interaction: Interaction,
  store: Pick<Store, "findAnswer">,
): Promise<AnsweredInteraction> {
  const request = startRequest();
  await runRequest(request, async () => void (await interaction.persist()));
  const answered = await store.findAnswer(findOnlyPut(startChange(request))!);
  if (answered === null) throw new errors.SessionNotFound("the interaction ended while the person answered");
  return answered;
}

/** The request with which a browser comes back to the library, made of the one with its form. */
export function makeResumeRequest(provider: Provider, req: IncomingMessage, { returnTo, uid }: Interaction) {
  const cookie = `${provider.cookieName("resume")}=${uid}`;
  const signed = `${provider.cookieName("resume")}${signatureSuffix}=${keysOf(provider).sign(cookie)}`;
  const headers = { ...req.headers, cookie: [cookie, signed, req.headers.cookie ?? []].flat().join("; ") };
  const changed = { method: "GET", url: new URL(returnTo).pathname, headers };
  return Object.assign(Object.create(req) as IncomingMessage, changed);
}

const signatureSuffix = ".sig";

/** Only this browser has the signature of the cookie; empty without a cookie. */
export const readInteractionSignature = (provider: Provider, cookies: SignedCookies): string =>
  cookies.get(`${provider.cookieName("interaction")}${signatureSuffix}`, { signed: false }) ?? "";

const keysOf = (provider: Provider) => (provider as unknown as { keys: CookieSignatures }).keys;

type CookieSignatures = {
  sign(data: string): string;
  verify(data: string, signature: string): boolean;
  index(data: string, signature: string): number;
};

/** Signs the library's cookies with HMAC-SHA-256; its own way is SHA-1. */
export function makeCookieSignatures(key: Buffer): CookieSignatures {
  const digest = (data: string): Buffer => hmac(key).update(data).digest();
  const isSignature = (data: string, signature: string): boolean => {
    const presented = Buffer.from(signature, "base64url");
    const expected = digest(data);
    return presented.length === expected.length && timingSafeEqual(presented, expected);
  };
  return {
    sign: (data) => digest(data).toString("base64url"),
    verify: isSignature,
    index: (data, signature) => (isSignature(data, signature) ? 0 : -1),
  };
}
