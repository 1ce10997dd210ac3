import { createClient as createIdm } from "../clients/hey-api/idm/client";
import * as idm from "../clients/hey-api/idm/sdk.gen";
import { createClient as createSchulconnex } from "../clients/hey-api/schulconnex/client";
import * as schulconnex from "../clients/hey-api/schulconnex/sdk.gen";
import { createClient as createSignOn } from "../clients/hey-api/sign-on/client";
import * as signOn from "../clients/hey-api/sign-on/sdk.gen";
import { zGroupEvent, zPersonEvent, zSchoolEvent } from "../clients/hey-api/webhooks/zod.gen";
import { kept, print, some, world } from "./world";

const { urls } = world;
const asApp = (secret: string) => createSignOn({ baseUrl: urls.signOn, auth: () => `${world.clientId}:${secret}` });
const tokenFor = { grant_type: "client_credentials", scope: world.scope } as const;

async function run(): Promise<void> {
  const app = asApp(world.clientSecret);
  const token = some((await signOn.issueToken({ client: app, body: tokenFor })).data);
  const wrong = await signOn.issueToken({ client: asApp("wrong"), body: tokenFor });

  const client = createIdm({ baseUrl: urls.idm, auth: token.access_token });
  const records = createSchulconnex({ baseUrl: urls.schulconnex, auth: token.access_token });
  const person = createSchulconnex({ baseUrl: urls.schulconnex, auth: world.userToken });
  const signedIn = createSignOn({ baseUrl: urls.signOn, auth: world.userToken });
  const path = (id: string) => ({ client, path: { id }, throwOnError: true }) as const;
  const always = { client, throwOnError: true } as const;

  const position = (await idm.listChanges(always)).data;
  const read = {
    listSchools: (await idm.listSchools(always)).data,
    getSchool: (await idm.getSchool(path(world.school))).data,
    getSchoolRoster: (await idm.getSchoolRoster(path(world.school))).data,
    listSchoolUsers: (await idm.listSchoolUsers(path(world.school))).data,
    getUser: (await idm.getUser(path(world.person))).data,
    listSchoolGroups: (await idm.listSchoolGroups(path(world.school))).data,
    getGroup: (await idm.getGroup(path(world.group))).data,
    listSchoolPeople: (await idm.listSchoolPeople(path(world.school))).data,
    getPerson: (await idm.getPerson(path(world.personWithoutName))).data,
    listChanges: position,
    acknowledgeErasure: (await idm.acknowledgeErasure({ ...path(world.erasure), body: kept })).data,
    listErasures: (await idm.listErasures(always)).data,
    listIdentifierChanges: (await idm.listIdentifierChanges({ ...always, query: { id: world.movedPerson } })).data,
    listPersonenInfo: (await schulconnex.listPersonenInfo({ client: records, throwOnError: true })).data,
    listCodelisten: (await schulconnex.listCodelisten({ client: records, throwOnError: true })).data,
    getPersonInfo: (await schulconnex.getPersonInfo({ client: person, throwOnError: true })).data,
    getUserinfo: (await signOn.getUserinfo({ client: signedIn, throwOnError: true })).data,
    getDiscovery: (await signOn.getDiscovery({ client: app, throwOnError: true })).data,
    listKeys: (await signOn.listKeys({ client: app, throwOnError: true })).data,
    introspectToken: (
      await signOn.introspectToken({ client: app, body: { token: token.access_token }, throwOnError: true })
    ).data,
  };
  const changes = await idm.listChanges({ ...always, query: { after: position.next, limit: 10 } });
  const page = await idm.listSchoolPeople({ ...path(world.school), query: { limit: 1 } });
  const groups = await idm.listSchoolGroups({ ...path(world.school), query: { "show-deleted": true } });
  const parts = await schulconnex.listPersonenInfo({
    client: records,
    throwOnError: true,
    query: { vollstaendig: ["personen", "personenkontexte"], pid: world.person },
  });
  const hidden = await idm.getPerson({ client, path: { id: world.hiddenPerson } });
  const limit = await idm.listSchools({ client, query: { limit: 0 } });
  const stranger = await idm.listSchools({ client: createIdm({ baseUrl: urls.idm, auth: "unknown" }) });
  const organisations = await schulconnex.listOrganisationenInfo({ client: records });
  const gruppen = await schulconnex.listGruppenInfo({ client: records });
  const revoked = await signOn.revokeToken({ client: app, body: { token: token.access_token } });

  print({
    token,
    wrongSecret: { status: some(wrong.response).status, error: some(wrong.error).error },
    read: { ...read, revokeToken: some(revoked.response).status },
    changed: changes.data.changes.length,
    firstPage: page.data,
    deletedGroups: groups.data,
    withParts: parts.data,
    hidden: { status: some(hidden.response).status, code: some(hidden.error).code },
    wrongLimit: { status: some(limit.response).status, code: some(limit.error).code },
    wrongToken: { status: some(stranger.response).status, code: some(stranger.error).code },
    notOffered: {
      listOrganisationenInfo: { status: some(organisations.response).status, ...some(organisations.error) },
      listGruppenInfo: { status: some(gruppen.response).status, ...some(gruppen.error) },
    },
    events: {
      person: world.events.person.map((event) => zPersonEvent.parse(event)),
      group: world.events.group.map((event) => zGroupEvent.parse(event)),
      school: world.events.school.map((event) => zSchoolEvent.parse(event)),
    },
  });
}

void run();
