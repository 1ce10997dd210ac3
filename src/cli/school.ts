import { createSchool, findSchool, listSchools, updateSchool } from "../directory/index.ts";
import type { SchoolId } from "../directory/index.ts";
import { done, found, inChange, inDatabase, updated } from "./change.ts";
import { makeCommand, type Noun } from "./command.ts";
import { defaultLimit, listOptions, listResult, recordLines, schoolColumns } from "./lines.ts";
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

export const school: Noun = {
  summary: "Schools: their name, address, official id and schooling level.",
  verbs: {
    create: makeCommand({
      summary: "Register a school.",
      options: {
        ...properties,
        ...{
          name: required(properties.name),
          officialId: required(properties.officialId),
          street: required(properties.street),
        },
        ...{ zip: required(properties.zip), city: required(properties.city), state: required(properties.state) },
        id: option.id<SchoolId>("Its id, where it has one already."),
      },
      run: async (
        tools,
        { options: { id, name, officialId, street, addition, zip, city, country, state, schoolingLevel } },
      ) => {
        const address = { address: street, addressAddition: addition ?? null, city, zipCode: zip };
        const location = { country: country ?? "DE", state };
        const made = await inChange(tools, (change) =>
          createSchool(change, { id, name, officialId, address, location, schoolingLevel: schoolingLevel ?? null }),
        );
        return done(made, { id: made });
      },
    }),
    update: makeCommand({
      summary: "Change what is given of a school; what is left out stays.",
      takes: { school: argument.id<SchoolId>() },
      options: {
        ...properties,
        noAddition: option.flag("Remove the addition to the address."),
        noSchoolingLevel: option.flag("Remove the schooling level."),
      },
      run: async (tools, { given, options }) => {
        const { name, officialId, street, zip, city, country, state } = options;
        const address = {
          address: street,
          addressAddition: options.noAddition ? null : options.addition,
          city,
          zipCode: zip,
        };
        const schoolingLevel = options.noSchoolingLevel ? null : options.schoolingLevel;
        const update = {
          schoolId: given.school,
          name,
          officialId,
          address,
          location: { country, state },
          schoolingLevel,
        };
        return updated("school", given.school, await inChange(tools, (change) => updateSchool(change, update)));
      },
    }),
    show: makeCommand({
      summary: "Show one school.",
      takes: { school: argument.id<SchoolId>() },
      run: async (tools, { given }) => {
        const shown = found(
          await inDatabase(tools, (db) => findSchool(db, given.school)),
          "school_not_found",
          "The school does not exist.",
        );
        const { id, name, officialId, schoolingLevel, address, location } = shown;
        const where = [address.address, address.addressAddition, `${address.zipCode} ${address.city}`]
          .filter(Boolean)
          .join(", ");
        return {
          lines: recordLines({
            id,
            name,
            "official id": officialId,
            address: where,
            country: `${location.country}-${location.state}`,
            "schooling level": schoolingLevel,
          }),
          data: shown,
        };
      },
    }),
    list: makeCommand({
      summary: "List schools by name.",
      options: listOptions,
      run: async (tools, { options: { search, after, limit = defaultLimit } }) => {
        const schools = await inDatabase(tools, (db) => listSchools(db, { search, after, limit: limit + 1 }));
        return listResult("schools", schools, limit, schoolColumns);
      },
    }),
  },
};
