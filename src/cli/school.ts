import { createSchool, findSchool, listSchools, updateSchool } from "../directory/index.ts";
import type { School, SchoolId, SchoolUpdate } from "../directory/index.ts";
import { found, inChange, inDatabase, made, updated } from "./change.ts";
import { makeCommand, type Noun } from "./command.ts";
import { defaultLimit, listOptions, listResult, recordLines, type Columns } from "./lines.ts";
import { argument, option, required } from "./option.ts";

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

const columns: Columns<School> = {
  id: ({ id }) => id,
  "official id": ({ officialId }) => officialId,
  name: ({ name }) => name,
  city: ({ address }) => address.city,
};

/** All fields, so that one which is added to the type is missing here and does not compile. */
type Every<Whole> = { [Name in keyof Required<Whole>]: Whole[Name] };

export const school: Noun = {
  verbs: {
    create: makeCommand({
      summary: "Register a school.",
      options: {
        ...properties,
        ...{ name: required(properties.name), officialId: required(properties.officialId) },
        ...{ street: required(properties.street), zip: required(properties.zip) },
        ...{ city: required(properties.city), state: required(properties.state) },
        id: option.id<SchoolId>("Its id, where it has one already."),
      },
      run: async (tools, { options }) => {
        const { id, name, officialId, street, addition, zip, city, country, state, schoolingLevel } = options;
        const address = { address: street, addressAddition: addition ?? null, city, zipCode: zip };
        const location = { country: country ?? "DE", state };
        const newSchool = { id, name, officialId, address, location, schoolingLevel: schoolingLevel ?? null };
        return made(await inChange(tools, (change) => createSchool(change, newSchool)));
      },
    }),
    update: makeCommand({
      summary: "Change what is given of a school; what is left out stays.",
      takes: { school: argument.school() },
      options: {
        ...properties,
        noAddition: option.flag("Remove the addition to the address."),
        noSchoolingLevel: option.flag("Remove the schooling level."),
      },
      run: async (tools, { given, options }) => {
        const { name, officialId, street, zip, city, country, state } = options;
        const addressAddition = options.noAddition ? null : options.addition;
        const update: Every<SchoolUpdate> = {
          ...{ schoolId: given.school, name, officialId, location: { country, state } },
          address: { address: street, addressAddition, city, zipCode: zip },
          schoolingLevel: options.noSchoolingLevel ? null : options.schoolingLevel,
        };
        return updated("School", given.school, await inChange(tools, (change) => updateSchool(change, update)));
      },
    }),
    show: makeCommand({
      summary: "Show one school.",
      takes: { school: argument.school() },
      run: async (tools, { given }) => {
        const school = await inDatabase(tools, (db) => findSchool(db, given.school));
        const shown = found(school, "school_not_found", "The school does not exist.");
        const { id, name, officialId, schoolingLevel, address, location, ...unnamed } = shown;
        unnamed satisfies Record<string, never>;
        const parts = [address.address, address.addressAddition, `${address.zipCode} ${address.city}`];
        const lines = recordLines({
          ...{ id, name, "official id": officialId, address: parts.filter(Boolean).join(", ") },
          ...{ country: `${location.country}-${location.state}`, "schooling level": schoolingLevel },
        });
        return { lines, quiet: [id], data: shown };
      },
    }),
    list: makeCommand({
      summary: "List schools by name.",
      options: listOptions,
      run: async (tools, { options: { search, after, limit = defaultLimit } }) => {
        const schools = await inDatabase(tools, (db) => listSchools(db, { search, after, limit: limit + 1 }));
        return listResult("schools", schools, limit, columns);
      },
    }),
  },
};
