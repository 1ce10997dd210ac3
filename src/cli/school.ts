import { createSchool, findSchool, listSchools, updateSchool } from "../directory/index.ts";
import type { NewSchool, School, SchoolId, SchoolUpdate } from "../directory/index.ts";
import type { PasswordKind, SignInSettings, UserNameRule } from "../accounts/index.ts";
import { found, inChange, inDatabase } from "./change.ts";
import { makeCommand, type Noun, type OptionsOf, type Result } from "./command.ts";
import { done, made, updated, defaultLimit, listOptions, listResult, recordLines, type Columns } from "./lines.ts";
import { argument, option, required, UsageError } from "./option.ts";
import { refuseHere } from "./remote/remote.ts";
import * as far from "./remote/school.ts";

const userNameRules = ["FIRST_DOT_LAST", "FIRST_INITIAL_LAST", "FIRST_LAST_INITIAL", "RANDOM", "ROSTER"] as const;
const highestGrade = 13;

const properties = {
  name: option.text("Name of the school."),
  officialId: option.text("Official identifier, different for every school."),
  street: option.text("Street and number."),
  addition: option.text("Addition to the address."),
  zip: option.text("Postal code."),
  city: option.text("City."),
  country: option.text("ISO 3166-1 code in capitals; DE if left out."),
  state: option.text("Part of the ISO 3166-2 code behind the hyphen, such as NI."),
  schoolingLevel: option.text("A code in capitals, such as GYMNASIUM."),
};

const takes = { school: argument.school() };

const columns: Columns<School> = {
  id: ({ id }) => id,
  "official id": ({ officialId }) => officialId,
  name: ({ name }) => name,
  city: ({ address }) => address.city,
};

/** All fields, so that one which is added to the type is missing here and does not compile. */
type Every<Whole> = { [Name in keyof Required<Whole>]: Whole[Name] };

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
const changes = {
  ...properties,
  noAddition: option.flag("Remove the addition to the address."),
  noSchoolingLevel: option.flag("Remove the schooling level."),
};
const signInChanges = {
  userNames: option.oneOf<UserNameRule>(userNameRules, "How user names of new people are made."),
  passwords: option.oneOf<PasswordKind>(["WORDS", "LETTERS"], "How new passwords look."),
  mustChange: option.oneOf(["yes", "no"], "Whether people choose their own at the first sign-in."),
  ownFrom: option.count("From which grade pupils change their own password."),
  noOwn: option.flag("No pupil changes their own password."),
  help: option.text("The school's own text for the sign-in page."),
  noHelp: option.flag("Remove this text."),
};

function readNewSchool(options: OptionsOf<typeof creation>): Omit<School, "id"> & Pick<NewSchool, "id"> {
  const { id, name, officialId, street, addition, zip, city, country, state, schoolingLevel } = options;
  const address = { address: street, addressAddition: addition ?? null, city, zipCode: zip };
  const location = { country: country ?? "DE", state };
  return { id, name, officialId, address, location, schoolingLevel: schoolingLevel ?? null };
}

function readUpdate(schoolId: SchoolId, options: OptionsOf<typeof changes>): Every<SchoolUpdate> {
  const { name, officialId, street, zip, city, country, state } = options;
  const addressAddition = options.noAddition ? null : options.addition;
  return {
    schoolId,
    name,
    officialId,
    location: { country, state },
    address: { address: street, addressAddition, city, zipCode: zip },
    schoolingLevel: options.noSchoolingLevel ? null : options.schoolingLevel,
  };
}

/** The present settings with what is given. Errors: UsageError. */
function readSignIn(present: SignInSettings, options: OptionsOf<typeof signInChanges>): SignInSettings {
  const { userNames, passwords, mustChange, ownFrom, noOwn, help, noHelp } = options;
  const after = {
    userNameRule: userNames ?? present.userNameRule,
    passwordKind: passwords ?? present.passwordKind,
    mustChangePassword: mustChange === undefined ? present.mustChangePassword : mustChange === "yes",
    ownPasswordFromGrade: noOwn ? null : (ownFrom ?? present.ownPasswordFromGrade),
    helpText: noHelp ? null : (help ?? present.helpText),
  };
  if ((after.ownPasswordFromGrade ?? 1) > highestGrade)
    throw new UsageError(`--own-from is a grade from 1 to ${highestGrade}.`);
  return after;
}

const signInChanged = (id: SchoolId, settings: SignInSettings) =>
  done("Sign-in of the school changed.", { id, ...settings });

function show(shown: School): Result {
  const { id, name, officialId, schoolingLevel, address, location, ...unnamed } = shown;
  unnamed satisfies Record<string, never>;
  const parts = [address.address, address.addressAddition, `${address.zipCode} ${address.city}`];
  const lines = recordLines({
    id,
    name,
    "official id": officialId,
    address: parts.filter(Boolean).join(", "),
    country: `${location.country}-${location.state}`,
    "schooling level": schoolingLevel,
  });
  return { lines, quiet: [id], data: shown };
}

export const school: Noun = {
  verbs: {
    create: makeCommand({
      summary: "Register a school.",
      options: creation,
      run: async (tools, { options }) =>
        made(await inChange(tools, (change) => createSchool(change, readNewSchool(options)))),
      remote: async (remote, { options }) => {
        refuseHere({ id: options.id });
        return made(await far.createSchool(remote, readNewSchool(options)));
      },
    }),
    update: makeCommand({
      summary: "Change what is given of a school; what is left out stays.",
      takes,
      options: changes,
      run: async (tools, { given: { school: id }, options }) =>
        updated("School", id, await inChange(tools, (change) => updateSchool(change, readUpdate(id, options)))),
      remote: async (remote, { given: { school: id }, options }) =>
        updated("School", id, await far.updateSchool(remote, readUpdate(id, options))),
    }),
    "set-sign-in": makeCommand({
      summary: "Change how the people of a school sign in; what is left out stays.",
      takes,
      options: signInChanges,
      run: async ({ withDatabase, origin }, { given: { school: schoolId }, options }) => {
        const { findSignInSettings, lockSignInSettings, putSignInSettings } = await import("../accounts/index.ts");
        const { withPrismaTransaction } = await import("../platform/database/db.ts");
        const settings = await withDatabase(({ db }) =>
          withPrismaTransaction(db, async (tx) => {
            await lockSignInSettings(tx, schoolId);
            const before = await findSignInSettings(tx, schoolId);
            const after = readSignIn(found(before, "school_not_found", "The school does not exist."), options);
            await putSignInSettings(tx, { schoolId, ...after }, origin());
            return after;
          }),
        );
        return signInChanged(schoolId, settings);
      },
      remote: async (remote, { given: { school: id }, options }) =>
        signInChanged(id, await far.changeSignIn(remote, id, (present) => readSignIn(present, options))),
    }),
    show: makeCommand({
      summary: "Show one school.",
      takes,
      run: async (tools, { given }) => {
        const school = await inDatabase(tools, (db) => findSchool(db, given.school));
        return show(found(school, "school_not_found", "The school does not exist."));
      },
      remote: async (remote, { given }) => show(await far.findSchool(remote, given.school)),
    }),
    list: makeCommand({
      summary: "List schools by name.",
      options: listOptions,
      run: async (tools, { options: { search, after, limit = defaultLimit } }) => {
        const schools = await inDatabase(tools, (db) => listSchools(db, { search, after, limit: limit + 1 }));
        return listResult("schools", schools, limit, columns);
      },
      remote: async (remote, { options: { search, after, limit = defaultLimit } }) => {
        const schools = await far.listSchools(remote, { search, after, limit: limit + 1 });
        return listResult("schools", schools, limit, columns);
      },
    }),
  },
};
