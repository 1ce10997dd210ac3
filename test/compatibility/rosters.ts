import type { NewApp } from "../../src/access/index.ts";

/**
 * A program that reads OneRoster and does not run here: what its code sends, read from it and sent by
 * test/api/oneroster/replays.test.ts.
 */
export type RosterReplay = {
  name: string;
  /** Where the code was read: the repository and the commit of each file. */
  source: string;
  registration: Partial<NewApp>;
  /** What to type into its fields. */
  settings: Readonly<Record<string, string>>;
  /** How many calls or steps were replayed. */
  steps: number;
  /** Those that do not get what the program expects, and why. */
  fails: Readonly<Record<string, string>>;
  /** What somebody who uses it should know. */
  note: string;
};

const token = "`ISSUER/oauth2/token`";
const secret = { "Client id, client secret": "those of the app" };
const noAddress = "the service has no e-mail addresses";
const noGrades = "there is no gradebook";
const noPeriod = "there are no grading periods, and the collection reads the first one";

export const rosterReplays = [
  {
    name: "School Data Sync",
    source: "`SDS V2 OneRoster v1.1-OAuth2` of OfficeDev/O365-EDU-Tools, 76339b7",
    registration: { defaultScopes: ["oneroster:read"] },
    settings: { "OneRoster host": "`ISSUER`", "OAuth 2 token address": token, ...secret },
    steps: 25,
    fails: { "Get AcademicSessions - Paging": "it asks for a third session, and there are two" },
    note: "The code of School Data Sync is not published. This is the collection of calls with which Microsoft has providers check theirs; Microsoft adds a provider to the list of which schools choose. It asks for the third record of each list, so share three schools, classes and people.",
  },
  {
    name: "Moodle enrol_oneroster",
    source:
      "moodlehq/moodle-enrol_oneroster, 1003e15; the order of its calls in catalyst/moodle-enrol_oneroster, 22efb8c",
    registration: {},
    settings: {
      "One Roster version": "1.1",
      "OAuth version": "2.0",
      "Token URL": token,
      "One Roster Root URL": "`ISSUER`",
      ...secret,
    },
    steps: 9,
    fails: { "Accounts are created": noAddress },
    note: "Everything is read, but the plugin copies the e-mail address to each account that it creates or updates, and there is none. Give `email` a value in `get_user_data` of `classes/local/entities/user.php` before you use it. The user name is `identifier`, so the app needs the identifier of the source system.",
  },
  {
    name: "Google's conformance tests 1.1",
    source: "googleworkspace/oneroster-integration-conformance-tests, 094d72a",
    registration: {},
    settings: { "Token URL": token, "OneRoster URL": "`ISSUER/ims/oneroster/v1p1`", ...secret },
    steps: 9,
    fails: {
      "GetAllTeachers w/ email filter": noAddress,
      GetStudentsForClass: noAddress,
      "PutLineItem Create": noGrades,
      GetAllCategories: noGrades,
      GetGradingPeriodsForTerm: noPeriod,
    },
    note: "Google Classroom finds teachers by e-mail address and exports grades, so it cannot use this service. The steps after the search for a teacher were replayed with the id of one, and of the gradebook only the first calls.",
  },
  {
    name: "Google's conformance tests 1.2",
    source: "googleworkspace/oneroster-integration-conformance-tests, 3550c21",
    registration: {},
    settings: { "Token URL": token, "OneRoster URL": "`ISSUER/ims/oneroster`", ...secret },
    steps: 8,
    fails: {
      "GetAllTeachers w/ email filter": noAddress,
      GetStudentsForClass: noAddress,
      "PutLineItem Create": noGrades,
      GetCategoriesForClass: noGrades,
      GetGradingPeriodsForTerm: noPeriod,
    },
    note: "As in version 1.1.",
  },
  {
    name: "HelloID OneRoster 1.2",
    source: "Tools4everBV/HelloID-Conn-Prov-Source-OneRoster-v1.2-API, 4fc9b20",
    registration: {},
    settings: { URL: "`ISSUER`", "Token URI": token, "API Key, API Secret": "client id and client secret of the app" },
    steps: 10,
    fails: {},
    note: "It asks for scopes of other records too, which are ignored, and reads the demographics, which are an empty list.",
  },
  {
    name: "HelloID OneRoster 1.1",
    source: "Tools4everBV/HelloID-Conn-Prov-Source-OneRoster-v1.1-API, 026c3b1",
    registration: { defaultScopes: ["oneroster:read"] },
    settings: {
      "Base URI": "`ISSUER`",
      "Version URI": "`/ims/oneroster/v1p1`",
      "Token URI": "`/oauth2/token`",
      "Client key, client secret": "those of the app",
    },
    steps: 9,
    fails: {},
    note: "Its pages hold as many records as you set.",
  },
] as const satisfies readonly RosterReplay[];

export type RosterProgram = (typeof rosterReplays)[number]["name"];
