import { readFile } from "node:fs/promises";
import type { SchoolId } from "../directory/index.ts";
import type { PasswordKind, UserNameRule } from "../accounts/index.ts";
import { listTexts, type TextName } from "../platform/contract-texts.ts";
import {
  bodyOf,
  retryStale,
  isEmpty,
  requireMachine,
  makeBody,
  makeNestedBody,
  withIdempotencyKey,
  readTagged,
  updateRecord,
  type AllProperties,
  type Schemas,
} from "./admin-api.ts";
import { makeApiCommand, type Verbs, type OptionsOf, type Result } from "./command.ts";
import { done, listOptions, made, recordLines, updated } from "./lines.ts";
import { option, required, UsageError } from "./option.ts";
import { dashed } from "./read-call.ts";
import { argsOf, lists, shows } from "./verbs.ts";

type SignInSettings = Schemas["SignInSettings"];
type Text = TextName<Schemas["SchoolInput"]>;

const userNameRules = ["FIRST_DOT_LAST", "FIRST_INITIAL_LAST", "FIRST_LAST_INITIAL", "RANDOM", "ROSTER"] as const;
const highestGrade = 13;

// The options and lines of texts come from the contract; only what an option says more than its name is written here.
const texts = listTexts<Schemas["SchoolInput"]>("SchoolInput");
const meanings: Partial<Record<Text, string>> = {
  name: "Name of the school.",
  officialId: "Official identifier, different for every school.",
  schoolingLevel: "A code in capitals, such as GYMNASIUM.",
};
const wordsOf = (name: string) => dashed(name).replaceAll("-", " ");
const textOption = (name: Text) => option.text(meanings[name] ?? `The ${wordsOf(name)}.`);
const removalOf = (name: string) => `no${name.charAt(0).toUpperCase()}${name.slice(1)}`;
const removalFlag = (name: string) => option.flag(`Remove the ${wordsOf(name)}.`);

const properties = {
  ...(Object.fromEntries(texts.map(({ name }) => [name, textOption(name)])) as Record<
    Text,
    ReturnType<typeof textOption>
  >),
  street: option.text("Street and number."),
  addition: option.text("Addition to the address."),
  zip: option.text("Postal code."),
  city: option.text("City."),
  country: option.text("ISO 3166-1 code in capitals; DE if left out."),
  state: option.text("Part of the ISO 3166-2 code behind the hyphen, such as NI."),
};

const creation = {
  ...properties,
  name: required(properties.name),
  officialId: required(properties.officialId),
  street: required(properties.street),
  zip: required(properties.zip),
  city: required(properties.city),
  state: required(properties.state),
  id: option.id<SchoolId>("Its id, where it has one already."),
};
const nullable = texts.filter(({ isNullable }) => isNullable);
const changes = {
  ...properties,
  noAddition: option.flag("Remove the addition to the address."),
  ...Object.fromEntries(nullable.map(({ name }) => [removalOf(name), removalFlag(name)] as const)),
};
const signInChanges = {
  userNames: option.oneOf<UserNameRule>(userNameRules, "How user names of new people are made."),
  passwords: option.oneOf<PasswordKind>(["WORDS", "LETTERS"], "How new passwords look."),
  mustChange: option.oneOf(["yes", "no"], "Whether people choose their own at the first sign-in."),
  ownFrom: option.count("From which grade pupils change their own password."),
  noOwn: option.flag("No pupil changes their own password."),
  helpText: option.text("The school's own text for the sign-in page."),
  noHelpText: option.flag("Remove this text."),
};

/** A text that is to be removed is null. */
function readTexts(options: Readonly<Record<string, unknown>>): Pick<AllProperties<Schemas["SchoolUpdate"]>, Text> {
  const valueOf = (name: Text) => (options[removalOf(name)] === true ? null : options[name]);
  return Object.fromEntries(texts.map(({ name }) => [name, valueOf(name)])) as ReturnType<typeof readTexts>;
}

function readNewSchool(options: OptionsOf<typeof creation>): Schemas["SchoolInput"] {
  const { street, addition, zip, city, country = "DE", state } = options;
  return makeBody<Schemas["SchoolInput"]>({
    ...readTexts(options),
    address: makeBody<Schemas["SchoolAddressInput"]>({
      address: street,
      addressAddition: addition,
      city,
      zipCode: zip,
    }),
    location: makeBody<Schemas["SchoolLocationInput"]>({ country, state }),
  });
}

function readUpdate(options: OptionsOf<typeof changes>): Schemas["SchoolUpdate"] {
  const { street, zip, city, country, state } = options;
  const addressAddition = options.noAddition ? null : options.addition;
  return makeBody<Schemas["SchoolUpdate"]>({
    ...readTexts(options),
    address: makeNestedBody<Schemas["SchoolAddressUpdate"]>({ address: street, addressAddition, city, zipCode: zip }),
    location: makeNestedBody<Schemas["SchoolLocationUpdate"]>({ country, state }),
  });
}

function readSignIn(present: SignInSettings, options: OptionsOf<typeof signInChanges>): SignInSettings {
  const { userNames, passwords, mustChange, ownFrom, noOwn, helpText, noHelpText } = options;
  const after = {
    userNameRule: userNames ?? present.userNameRule,
    passwordKind: passwords ?? present.passwordKind,
    mustChangePassword: mustChange === undefined ? present.mustChangePassword : mustChange === "yes",
    ownPasswordFromGrade: noOwn ? null : (ownFrom ?? present.ownPasswordFromGrade),
    helpText: noHelpText ? null : (helpText ?? present.helpText),
  };
  if ((after.ownPasswordFromGrade ?? 1) > highestGrade)
    throw new UsageError(`--own-from is a grade from 1 to ${highestGrade}.`);
  return after;
}

function show(shown: Schemas["AdminSchool"]): Result {
  const { id, address, location, ...named } = shown;
  const parts = [address.address, address.addressAddition, `${address.zipCode} ${address.city}`];
  const lines = recordLines({
    id,
    ...Object.fromEntries(Object.entries(named).map(([name, value]) => [wordsOf(name), value] as const)),
    address: parts.filter(Boolean).join(", "),
    country: `${location.country}-${location.state}`,
  });
  return { lines, quiet: [id], data: shown };
}

function showRecord(data: Schemas["ProcessingRecord"], language: "de" | "en"): Result {
  const { activities } = data;
  const read = (text: Schemas["AppText"]) => text[language] ?? text.de ?? text.en ?? "";
  const all = (terms: readonly Schemas["PrivacyTerm"][]) => terms.map(({ text }) => read(text)).join("; ");
  const named = (activity: (typeof activities)[number]) => ({
    activity: read(activity.name),
    purpose: read(activity.purpose),
    people: all(activity.people),
    data: all(activity.data),
    withheld: all(activity.withheld),
    recipients: activity.recipients.map(({ name, contact }) => [name, contact].filter(Boolean).join(", ")).join("; "),
    kept: [...new Set(activity.data.map(({ kept }) => read(kept)))].join("; "),
    agreement: activity.agreement?.version ?? "",
  });
  const rows = activities.map(named);
  return {
    lines: rows.flatMap((row) => ["", ...recordLines(row)]).slice(1),
    csv: { columns: Object.keys(rows[0]!), rows: rows.map((row) => Object.values(row)) },
    quiet: activities.map(({ code }) => code),
    data,
  };
}

const oneSchool = "/admin/v1/schools/{schoolId}";
const args = argsOf(oneSchool);

export const verbs: Verbs = {
  create: makeApiCommand({
    summary: "Register a school.",
    options: creation,
    run: async (service, { options }) => {
      const { id } = options;
      const body = readNewSchool(options);
      if (id !== undefined) {
        const { createSchoolWithId } = await import("./local/own-ids.ts");
        return made(await createSchoolWithId(requireMachine(service, { id }), id, body));
      }
      return made((await bodyOf(service.api.POST("/admin/v1/schools", { params: withIdempotencyKey(), body }))).id);
    },
  }),
  update: makeApiCommand({
    summary: "Change the given properties of a school; the others stay as they are.",
    args,
    options: changes,
    run: async ({ api }, { args: path, options }) => {
      const body = readUpdate(options);
      const changed = await updateRecord({
        read: () => api.GET(oneSchool, { params: { path } }),
        change: (_before, header) => (isEmpty(body) ? null : api.PATCH(oneSchool, { params: { path, header }, body })),
      });
      return updated("School", path.schoolId, changed);
    },
  }),
  "set-sign-in": makeApiCommand({
    summary: "Change how the people of a school sign in; settings that are not given stay as they are.",
    args,
    options: signInChanges,
    run: async ({ api }, { args: path, options }) => {
      const address = `${oneSchool}/sign-in-settings` as const;
      return retryStale(async () => {
        const { record, ifMatch } = await readTagged(api.GET(address, { params: { path } }));
        const body = readSignIn(record, options);
        await api.PUT(address, { params: { path, header: ifMatch }, body });
        return done("Sign-in of the school changed.", { id: path.schoolId, ...body });
      });
    },
  }),
  letter: shows(`${oneSchool}/parent-letter`, {
    summary: "Print the text of the letter to parents: `… school letter ID > letter.txt`.",
    show: (letter) => ({ lines: [letter.text ?? letter.defaults.en], isFile: true, data: letter }),
  }),
  "set-letter": makeApiCommand({
    summary: "Change the text of the letter to parents.",
    args,
    options: {
      file: option.text("A text file in UTF-8.", "path"),
      default: option.flag("Use the default text again."),
    },
    run: async ({ api }, { args: path, options: { file, default: isDefault } }) => {
      if (isDefault === (file !== undefined)) throw new UsageError("Give either --file or --default.");
      const utf8 = new TextDecoder("utf-8", { fatal: true });
      const text = file === undefined ? null : utf8.decode(await readFile(file)).trim();
      await api.PUT(`${oneSchool}/parent-letter`, { params: { path }, body: { text } });
      return done("Letter to parents changed.", { id: path.schoolId, text });
    },
  }),
  "processing-record": makeApiCommand({
    summary: "Show the record of processing (Art. 30 GDPR): with --output csv a table, with --output json all of it.",
    args,
    options: { language: option.oneOf<"de" | "en">(["de", "en"], "Language of the texts; en if left out.") },
    run: async ({ api }, { args: path, options: { language = "en" } }) =>
      showRecord(await bodyOf(api.GET(`${oneSchool}/processing-record`, { params: { path } })), language),
  }),
  show: shows(oneSchool, { summary: "Show one school.", show }),
  list: lists("/admin/v1/schools", {
    summary: "List schools by name.",
    name: "schools",
    options: { search: listOptions.search },
    columns: {
      id: ({ id }) => id,
      "official id": ({ officialId }) => officialId,
      name: ({ name }) => name,
      city: ({ address }) => address.city,
    },
  }),
};
