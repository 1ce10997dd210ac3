import { scopeNames, type ClientId } from "../access/token.ts";
import { adviseSignOn, signOnAdviceTexts, signOnDocs } from "../platform/advice/sign-on/index.ts";
import { valuesOf } from "../platform/contract-types.ts";
import { bodyOf, isEmpty, listFirst, makeBody, omitUndefined, withIdempotencyKey } from "./admin-api.ts";
import type { AllProperties, Schemas } from "./admin-api.ts";
import { makeApiCommand, type OptionsOf, type Result, type Verbs } from "./command.ts";
import { done, recordLines } from "./lines.ts";
import { argument, option, readDuration, required, UsageError, type Option } from "./option.ts";
import { readKeyFile } from "./public-keys.ts";
import { dashed } from "./read-call.ts";
import { argsNamed, argsOf, changes, listsAll, shows } from "./verbs.ts";

type AdminApp = Schemas["AdminApp"];
type SignOnAttempt = Schemas["SignOnAttempt"];

export const attributes = valuesOf<AdminApp["attributes"][number]>({
  PERSON_NAME: true,
  SOURCE_SYSTEM_IDENTIFIER: true,
  SCHOOL_ADDRESS: true,
  SCHOOL_LOCATION: true,
  SCHOOL_OFFICIAL_ID: true,
  SCHOOLING_LEVEL: true,
});

const authMethods = valuesOf<AdminApp["tokenEndpointAuthMethod"]>({
  client_secret_basic: true,
  client_secret_post: true,
  private_key_jwt: true,
  none: true,
});

const properties = {
  name: option.text("Its name, as people see it."),
  redirectUri: option.texts("Where people are sent back to; compared letter by letter.", "uri"),
  postLogoutRedirectUri: option.texts("Where people are sent after a logout; compared letter by letter.", "uri"),
  loginUrl: option.text("Where its tile leads.", "url"),
  backchannelLogoutUri: option.text("Where it is notified of logouts.", "uri"),
  scope: option.someOf(scopeNames, "Scopes it may ask for, such as schools:read."),
  defaultScope: option.someOf(scopeNames, "Scopes of a token of its own, where the request names none."),
  noDefaultScopes: option.flag("Such a token has no scopes; the default for a new app."),
  scopePlatform: option.text("A second platform name that it may write into scopes."),
  noScopePlatform: option.flag("It writes only the name of this service; the default for a new app."),
  attribute: option.someOf(attributes, "What it may read beside the rest of a record; everything if left out."),
  noAttributes: option.flag("It may read none of these."),
  idTokenAlgorithm: option.oneOf(["RS256", "ES256", "EdDSA"] as const, "How its ID tokens are signed."),
  schulconnexSpelling: option.oneOf(["V1_4", "V1_7"] as const, "How it reads Schulconnex codes."),
  authMethod: option.oneOf(authMethods, "How it authenticates; client_secret_basic for a new confidential app."),
  publicKeys: option.text("A file with its public keys, a JSON Web Key Set, for private_key_jwt.", "file"),
  jwksUri: option.text("Where it publishes its own key set, in place of a file.", "uri"),
  noPkce: option.flag("Do not require PKCE; confidential apps only."),
  pkce: option.flag("Require PKCE; the default for a new app."),
  confirmsErasures: option.flag("It is sent what it must erase, and confirms it."),
  noErasures: option.flag("It is sent nothing to erase; the default for a new app."),
};

const subjectTypes = valuesOf<AdminApp["subjectType"]>({ APP: true, PARTNER: true, SHARED: true });

const appTypes = ["CONFIDENTIAL", "PUBLIC"] as const;
const creation = {
  ...properties,
  name: required(properties.name),
  type: option.oneOf(appTypes, "Whether it can keep a secret; CONFIDENTIAL if left out."),
  clientId: option.text("Its client id, where it has one already."),
  subjectType: option.oneOf(
    subjectTypes,
    "By which ids it knows people: its own (the default), those of its partner's apps, or those of the service.",
  ),
  sector: option.text("The sector of an app of the same partner whose ids it gets.", "sector"),
};

const exclusive = [
  ["publicKeys", "jwksUri"],
  ["attribute", "noAttributes"],
  ["defaultScope", "noDefaultScopes"],
  ["scopePlatform", "noScopePlatform"],
  ["pkce", "noPkce"],
  ["confirmsErasures", "noErasures"],
] as const;

async function readRegistration(options: OptionsOf<typeof properties>): Promise<AllProperties<Schemas["AppUpdate"]>> {
  const publicKeys = options.publicKeys === undefined ? undefined : await readKeyFile(options.publicKeys);
  for (const [one, other] of exclusive)
    if (options[one] && options[other]) throw new UsageError(`Give --${dashed(one)} or --${dashed(other)}, not both.`);
  const { attribute, defaultScope, scopePlatform, pkce, confirmsErasures, jwksUri, scope } = options;
  return {
    name: options.name,
    tokenEndpointAuthMethod: options.authMethod,
    publicKeys: jwksUri ? [] : publicKeys,
    jwksUri: publicKeys ? null : jwksUri,
    redirectUris: options.redirectUri && [...options.redirectUri],
    postLogoutRedirectUris: options.postLogoutRedirectUri && [...options.postLogoutRedirectUri],
    loginUrl: options.loginUrl,
    backchannelLogoutUri: options.backchannelLogoutUri,
    scopes: scope && [...new Set(scope)],
    defaultScopes: defaultScope || options.noDefaultScopes ? [...new Set(defaultScope)] : undefined,
    scopePlatform: options.noScopePlatform ? null : scopePlatform,
    attributes: attribute || options.noAttributes ? [...new Set(attribute)] : undefined,
    idTokenAlgorithm: options.idTokenAlgorithm,
    schulconnexSpelling: options.schulconnexSpelling,
    pkceRequired: pkce || options.noPkce ? pkce : undefined,
    confirmsErasures: confirmsErasures || options.noErasures ? confirmsErasures : undefined,
    // Partners write these on their pages.
    provider: undefined,
    description: undefined,
    purpose: undefined,
    privacyUrl: undefined,
    supportAddress: undefined,
  };
}

const defaultOverlap = "24h";

const shownValue = (value: unknown): string | null => {
  if (Array.isArray(value) && value.every((one) => typeof one === "string")) return value.join(" ");
  return typeof value === "object" ? value && JSON.stringify(value) : String(value as string | boolean);
};

const secretLines = (secret: string | null): string[] =>
  secret === null ? [] : [`Client secret: ${secret}`, "The secret is not shown again."];

const created = ({ clientId, clientSecret }: Schemas["AppCredentials"]): Result => ({
  lines: [`Client id: ${clientId}`, ...secretLines(clientSecret)],
  quiet: [clientId, clientSecret].filter((one) => one !== null),
  data: { clientId, clientSecret },
});

function secretRotated({ clientId, clientSecret, oldSecretEndsAt }: Schemas["AppCredentials"]): Result {
  const end =
    oldSecretEndsAt === null ? "The old one is no longer valid." : `The old one is valid until ${oldSecretEndsAt}.`;
  return {
    lines: [...secretLines(clientSecret), end],
    quiet: clientSecret === null ? [] : [clientSecret],
    data: { clientId, clientSecret, oldSecretEndsAt },
  };
}

const show = (shown: AdminApp): Result => ({
  lines: recordLines(Object.fromEntries(Object.entries(shown).map(([name, value]) => [name, shownValue(value)]))),
  quiet: [shown.clientId],
  data: shown,
});

const viewed: readonly Schemas["AppViewResource"][] = [
  ...(["school", "users", "groups", "people", "group", "user", "person", "personen-info"] as const),
];

const shownView = (view: Schemas["AppView"]): Result => ({
  lines: [
    ...recordLines({
      path: view.path,
      status: String(view.status),
      etag: view.etag,
      records: view.count === null ? null : String(view.count),
    }),
    ...(view.body === null ? [] : ["", view.body]),
  ],
  quiet: view.body === null ? [] : [view.body],
  data: view,
});

type SentParameter = NonNullable<SignOnAttempt["steps"][number]["sent"]>[number];

/** Formats one parameter; empty if it is optional and was not sent. */
function lineOfSent({ name, value, length, problem, advice }: SentParameter): string[] {
  const isSent = value !== null || length !== null;
  if (!isSent && problem === null) return [];
  const shown = value ?? (length === null ? "not sent" : `(${length} characters)`);
  const wrong = problem === null ? "" : `  <- ${problem}${advice === null ? "" : `: ${advice} See ${signOnDocs}.`}`;
  return [`    ${name}: ${shown}${wrong}`];
}

function showSignOns(attempts: readonly SignOnAttempt[]): Result {
  const signOns = attempts.map(({ id, steps }) => {
    const advised = adviseSignOn(steps);
    return { id, advice: advised === null ? null : signOnAdviceTexts.en[advised.advice], steps };
  });
  const lines = signOns.flatMap(({ advice, steps }) => [
    ...steps.flatMap(({ at, step, outcome, sent, ...of }) => [
      [at, step, outcome, of.code, of.description, of.requestId].filter((part) => part !== null).join("  "),
      ...(sent ?? []).flatMap(lineOfSent),
    ]),
    ...(advice === null ? [] : [`  ${advice} See ${signOnDocs}.`]),
    "",
  ]);
  const empty = ["Nobody signed in during the last seven days."];
  return { lines: signOns.length === 0 ? empty : lines, data: { signOns } };
}

const apps = "/admin/v1/apps";
const oneApp = `${apps}/{clientId}` as const;
const args = argsOf(oneApp);

export const verbs: Verbs = {
  create: makeApiCommand({
    summary: "Register an app. A confidential one gets a secret, which is shown only once.",
    options: creation,
    run: async ({ api }, { options }) => {
      const { name, type = "CONFIDENTIAL", clientId, subjectType = "APP", sector } = options;
      const registration = await readRegistration(options);
      const body = makeBody<Schemas["AppInput"]>({ ...registration, name, type, clientId, subjectType, sector });
      return created(await bodyOf(api.POST(apps, { params: withIdempotencyKey(), body })));
    },
  }),
  update: makeApiCommand({
    summary: "Change the given properties of an app; a list is replaced as a whole.",
    args,
    options: properties,
    run: async ({ api }, { args: path, options }) => {
      const body = makeBody<Schemas["AppUpdate"]>(await readRegistration(options));
      if (!isEmpty(body)) await api.PATCH(oneApp, { params: { path }, body });
      const changed = Object.keys(body);
      return done(changed.length === 0 ? "No change." : "App updated.", { ...path, changed });
    },
  }),
  "rotate-secret": makeApiCommand({
    summary: "Give an app a new secret, which is shown only once. The present one stays valid for a time.",
    args,
    options: {
      keepOldFor: option.duration(
        `How long both are valid, such as 7d or 12h; ${defaultOverlap} if left out, 0 for a secret that leaked: the tokens that it got end too.`,
      ),
    },
    run: async ({ api }, { args: path, options: { keepOldFor = readDuration(defaultOverlap) } }) => {
      const params = { path, ...withIdempotencyKey() };
      const body = { keepOldSeconds: keepOldFor };
      return secretRotated(await bodyOf(api.POST(`${oneApp}/secret`, { params, body })));
    },
  }),
  "end-old-secret": changes("delete", `${oneApp}/old-secret`, {
    summary: "End the old secret before its time is over.",
    line: "Old secret ended.",
    data: (ids) => ids,
  }),
  delete: changes("delete", oneApp, {
    summary: "Delete an app with everything that belongs to it, at once. Its client id is never used again.",
    line: "App deleted.",
    irreversible: "This deletes the app with its grants, consents, tokens, events and webhooks.",
    data: (ids) => ids,
  }),
  suspend: makeApiCommand({
    summary: "Suspend an app: nobody signs in, its tokens are refused, and its webhooks wait until it is resumed.",
    args,
    options: { reason: required(option.text("Why; the partner and the schools read it.")) },
    run: async ({ api }, { args: path, options: { reason } }) => {
      await api.PUT(`${oneApp}/suspension`, { params: { path }, body: { reason } });
      return done("App suspended.", path);
    },
  }),
  resume: changes("delete", `${oneApp}/suspension`, {
    summary: "Resume a suspended app.",
    line: "App resumed.",
    data: (ids) => ids,
  }),
  "sign-ons": makeApiCommand({
    summary: "Show the last sign-ons to an app: where each stopped, and how to fix it. They contain no names.",
    args,
    options: { limit: option.count("How many at most; 20 if left out.") },
    run: async ({ api }, { args: path, options: { limit = 20 } }) => {
      const read = (query: object) => api.GET(`${oneApp}/sign-on-attempts`, { params: { path, query } });
      return showSignOns(await listFirst(read, { limit }));
    },
  }),
  view: makeApiCommand({
    summary: "Show exactly what an app gets when it reads a resource of a school.",
    args: { ...argsNamed("clientId", "schoolId"), resource: argument.oneOf(viewed) },
    options: {
      id: option.id("Which group, user or person."),
      showDeleted: option.flag("Deleted ones too, of groups and people."),
    },
    remoteOnly: "The service answers as it answers the app.",
    run: async ({ api }, { args: { resource, ...path }, options: { id, showDeleted } }) => {
      const query = { resource, ...omitUndefined({ id, "show-deleted": showDeleted || undefined }) };
      const params = { path, query };
      return shownView(await bodyOf(api.GET("/admin/v1/schools/{schoolId}/apps/{clientId}/view", { params })));
    },
  }),
  erasures: listsAll("/admin/v1/erasures", {
    summary: "List what apps have to erase: for an app by school, for a school by app.",
    options: {
      app: option.text("What this app has to erase.", "client-id") as Option<ClientId>,
      school: option.school("What apps have to erase of this school."),
    },
    name: "erasures",
    columns: {
      app: ({ clientId }) => clientId,
      school: ({ schoolId }) => schoolId,
      open: ({ open }) => String(open),
      since: ({ openSince }) => openSince,
      overdue: ({ overdue }) => String(overdue),
      waiting: ({ waiting }) => String(waiting),
      erased: ({ erased }) => String(erased),
      kept: ({ kept }) => String(kept),
    },
    id: ({ clientId, schoolId }) => `${clientId} ${schoolId}`,
  }),
  show: shows(oneApp, { summary: "Show one registration.", show }),
  list: listsAll(apps, {
    summary: "List all apps by name.",
    name: "apps",
    columns: { "client id": ({ clientId }) => clientId, type: ({ type }) => type, name: ({ name }) => name },
    id: ({ clientId }) => clientId,
  }),
};
