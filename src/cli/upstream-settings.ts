import { readFile } from "node:fs/promises";
import type { GroupId } from "../directory/index.ts";
import { makeBody, type Schemas } from "./admin-api.ts";
import type { OptionsOf } from "./command.ts";
import { recordLines } from "./lines.ts";
import { option, UsageError } from "./option.ts";

type Connection = Schemas["UpstreamConnection"];

export const profiles = ["ISERV", "ENTRA", "GOOGLE", "OIDC"] as const satisfies Connection["profile"][];
const authMethods = ["client_secret_basic", "client_secret_post"] as const satisfies Connection["authMethod"][];
const fields = ["SOURCE_SYSTEM_IDENTIFIER", "USERNAME", "PERSON_ID"] as const satisfies Connection["ruleField"][];
const normalisations = [
  "TRIM",
  "LOWER_CASE",
  "WITHOUT_LEADING_ZEROS",
  "WITHOUT_DOMAIN",
] as const satisfies Connection["normalisations"];
export const yesNo = ["yes", "no"] as const;

export const ruleOptions = {
  ruleClaim: option.text("The claim that names the person.", "claim"),
  ruleField: option.oneOf(fields, "The field of the roster that it must equal."),
  normalisation: option.someOf(normalisations, "What is done to both sides first."),
  group: option.groups("Only people of this group sign in; replaces the present ones."),
  unset: option.someOf(
    [
      "issuer",
      "client-id",
      "secret-expires-at",
      "tenant",
      "school-claim",
      "school-value",
      "rule-claim",
      "normalisation",
      "group",
    ] as const,
    "Leave these empty.",
  ),
};

export const settingsOptions = {
  issuer: option.text("The issuer, exactly as the discovery document of the provider says.", "url"),
  clientId: option.text("The id that the service has there.", "client-id"),
  secretFile: option.text("A file with the secret that the service has there; /dev/stdin for what is piped.", "path"),
  secretExpiresAt: option.time("When the secret expires."),
  authMethod: option.oneOf(authMethods, "How the secret is sent."),
  scope: option.texts("A scope that is asked; replaces the present ones.", "scope"),
  tenant: option.text("Entra: the tenant id. Google: the domain."),
  schoolClaim: option.text("The claim that names the school, where the provider serves several.", "claim"),
  schoolValue: option.text("What that claim must be or contain."),
  subjectClaim: option.text("The claim that names the account for good.", "claim"),
  ...ruleOptions,
  createsGuests: option.oneOf(yesNo, "Whether an account that nobody matches becomes a guest who waits for staff."),
  trustedForSecondFactor: option.oneOf(yesNo, "Whether a second factor there counts here; only for operators."),
  endsUpstreamSession: option.oneOf(yesNo, "Whether signing out here ends the session there."),
};

type Given = OptionsOf<typeof settingsOptions>;
type GivenRule = OptionsOf<typeof ruleOptions>;
type Nullable = NonNullable<GivenRule["unset"]>[number];

export const yes = (word: (typeof yesNo)[number] | undefined): boolean | undefined => word && word === "yes";

async function readSecret(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const secret = (await readFile(file, "utf8")).trim();
  if (secret === "") throw new UsageError("--secret-file: the file is empty.");
  return secret;
}

const emptied = ({ unset = [] }: GivenRule, name: Nullable): boolean => unset.includes(name);

export const readRule = (given: GivenRule): Schemas["UpstreamRuleInput"] =>
  makeBody<Schemas["UpstreamRuleInput"]>({
    ruleClaim: emptied(given, "rule-claim") ? null : given.ruleClaim,
    ruleField: given.ruleField,
    normalisations: emptied(given, "normalisation") ? [] : given.normalisation,
    groupIds: emptied(given, "group") ? [] : (given.group as GroupId[] | undefined),
  });

/** All settings but the name. */
export const readSettings = async (given: Given) => ({
  issuer: emptied(given, "issuer") ? null : given.issuer,
  clientId: emptied(given, "client-id") ? null : given.clientId,
  clientSecret: await readSecret(given.secretFile),
  secretExpiresAt: emptied(given, "secret-expires-at") ? null : given.secretExpiresAt?.toISOString(),
  authMethod: given.authMethod,
  scopes: given.scope && [...given.scope],
  tenant: emptied(given, "tenant") ? null : given.tenant,
  schoolClaim: emptied(given, "school-claim") ? null : given.schoolClaim,
  schoolValue: emptied(given, "school-value") ? null : given.schoolValue,
  subjectClaim: given.subjectClaim,
  ruleClaim: undefined,
  ruleField: undefined,
  normalisations: undefined,
  groupIds: undefined,
  ...readRule(given),
  createsGuests: yes(given.createsGuests),
  trustedForSecondFactor: yes(given.trustedForSecondFactor),
  endsUpstreamSession: yes(given.endsUpstreamSession),
});

const ruleLine = ({ ruleClaim, ruleField, normalisations: done }: Connection): string =>
  ruleClaim === null ? "by hand only" : `${ruleClaim} = ${ruleField}${done.length > 0 ? ` (${done.join(", ")})` : ""}`;

export const connectionLines = (shown: Connection): string[] =>
  recordLines({
    id: shown.id,
    school: `${shown.schoolName} (${shown.schoolId})`,
    name: `${shown.name} (${shown.profile})`,
    state: shown.state,
    issuer: shown.issuer,
    "client id": shown.clientId,
    secret: shown.hasSecret ? "stored" : null,
    "secret expires": shown.secretExpiresAt,
    "secret sent": shown.authMethod,
    scopes: shown.scopes.join(" "),
    tenant: shown.tenant,
    "only accounts with": shown.schoolClaim && `${shown.schoolClaim} = ${shown.schoolValue}`,
    "subject claim": shown.subjectClaim,
    rule: ruleLine(shown),
    "only groups": shown.groupIds.join(", ") || null,
    "creates guests": shown.createsGuests ? "yes" : "no",
    "confirmed for staff": shown.confirmedForStaff ? "yes" : "no",
    "trusted for the second factor": shown.trustedForSecondFactor ? "yes" : "no",
    "ends the session there": shown.endsUpstreamSession ? "yes" : "no",
    "redirect URI": shown.redirectUri,
    "back-channel logout URI": shown.backchannelLogoutUri,
    "post-logout redirect URI": shown.postLogoutRedirectUri,
    tested: shown.testedAt,
    "last sign-in": shown.lastSuccessAt,
    "failing since": shown.failingSince && `${shown.failingSince}: ${shown.lastFailure}`,
  });
