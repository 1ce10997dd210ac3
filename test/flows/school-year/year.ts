import { setGrant, setSync, setSyncedGroups, withdrawGrant } from "../../../src/access/index.ts";
import {
  addMembership,
  joinSchool,
  leaveSchool,
  renameGroup,
  restorePerson,
  softDeletePerson,
  updatePerson,
  updateSchool,
} from "../../../src/directory/index.ts";
import type { PartnerName, World } from "./world.ts";

export type Step = {
  what: string;
  /** The day, at eight o'clock. */
  on: string;
  act(world: World): Promise<unknown>;
  /** What each app is told; an app that is not named hears nothing. */
  told: Partial<Record<PartnerName, string[]>>;
  /**
   * What each app then holds: schools | groups | people with their groups | who was deleted and may return. Not named:
   * the same as before.
   */
  holds?: Partial<Record<PartnerName, string>>;
};

const columns = "id;role;first_name;last_name;classes;status\n";
const each = (names: string, event: string): string[] => names.split(" ").map((name) => `person ${name} ${event}`);
const clientOf = ({ partners }: World, name: PartnerName) => partners[name].app.clientId;
const sync = (world: World, name: PartnerName, school: string, groups: string[]) =>
  world.change((it) =>
    setSyncedGroups(it, {
      clientId: clientOf(world, name),
      schoolId: world.school(school),
      groups: groups.map(world.group),
    }),
  );

export const year: Step[] = [
  {
    what: "two schools let the apps in",
    on: "2025-08-18",
    act: (world) =>
      world.change(async (it) => {
        const [goethe, nord] = [world.school("goethe"), world.school("nord")];
        const [everybody, nobody] = [{ kind: "EVERYBODY" }, { kind: "NOBODY" }] as const;
        for (const schoolId of [goethe, nord])
          await setGrant(it, {
            clientId: clientOf(world, "all"),
            schoolId,
            signOn: everybody,
            sync: true,
            syncedGroups: [],
          });
        await setGrant(it, {
          clientId: clientOf(world, "one"),
          schoolId: goethe,
          signOn: nobody,
          sync: true,
          syncedGroups: [],
        });
        await setGrant(it, {
          clientId: clientOf(world, "login"),
          schoolId: goethe,
          signOn: everybody,
          sync: false,
          syncedGroups: [],
        });
      }),
    told: { all: ["school goethe create", "school nord create"], one: ["school goethe create"] },
    holds: { all: "goethe nord | - | - | -", one: "goethe | - | - | -", login: "- | - | - | -" },
  },
  {
    what: "enrolment: both rosters are imported",
    on: "2025-08-25",
    async act(world) {
      const goethe = `ada;student;Ada;Muster;5a
ole;student;Ole;Beispiel;5a
gus;student;Gus;Groß;5a
bo;student;Bo;Muster;5b
finn;student;Finn;Zander;5b
dana;student;Dana;Müller;9a
tina;teacher;Tina;Öztürk;5a|5b
sina;other;Sina;Schmidt;
`;
      await world.importRoster(world.school("goethe"), columns.replace(";status", "") + goethe);
      await world.importRoster(
        world.school("nord"),
        `${columns}nele;student;Nele;Nguyễn;1a;\ntom;teacher;Tom;O'Neill;1a;\n`,
      );
    },
    told: { all: each("ada bo dana finn gus nele ole sina tina tom", "create") },
    holds: { all: "goethe nord | - | ada bo dana finn gus nele ole sina tina tom | -" },
  },
  {
    what: "groups are synced",
    on: "2025-08-26",
    async act(world) {
      await sync(world, "all", "goethe", ["5a", "5b", "9a"]);
      await sync(world, "all", "nord", ["1a"]);
      await sync(world, "one", "goethe", ["5a"]);
    },
    told: {
      all: [
        "group 1a create",
        "group 5a create",
        "group 5b create",
        "group 9a create",
        ...each("ada bo dana finn gus nele ole tina tom", "update [groups]"),
      ],
      one: ["group 5a create", ...each("ada gus ole tina", "create")],
    },
    holds: {
      all: "goethe nord | 1a 5a 5b 9a | ada[5a] bo[5b] dana[9a] finn[5b] gus[5a] nele[1a] ole[5a] sina tina[5a 5b] tom[1a] | -",
      one: "goethe | 5a | ada[5a] gus[5a] ole[5a] tina[5a] | -",
    },
  },
  {
    what: "a name changes officially, while the followers of the feed read everything",
    on: "2025-09-08",
    async act(world) {
      const olivia = { firstFull: "Olivia", firstCall: "Olivia", last: "Beispiel" };
      await world.beginToFollow(() =>
        world.change((it) => updatePerson(it, { personId: world.person("ole"), name: olivia })),
      );
    },
    told: { all: ["person olivia update [name]"], one: ["person olivia update [name]"] },
    holds: {
      all: "goethe nord | 1a 5a 5b 9a | ada[5a] bo[5b] dana[9a] finn[5b] gus[5a] nele[1a] olivia[5a] sina tina[5a 5b] tom[1a] | -",
      one: "goethe | 5a | ada[5a] gus[5a] olivia[5a] tina[5a] | -",
    },
  },
  {
    what: "first sign-ins; to an app that knows them already they are no news",
    on: "2025-09-15",
    async act(world) {
      for (const name of ["sina", "gus", "dana"]) await world.signIn("login", name);
      await world.signIn("all", "tina");
    },
    told: { login: each("dana gus sina", "create (of no school)") },
    holds: { login: "- | - | dana gus sina | -" },
  },
  {
    what: "two move to another class",
    on: "2025-10-06",
    act: (world) =>
      world.importRoster(
        world.school("goethe"),
        `${columns}ole;student;Olivia;Beispiel;5b;\nbo;student;Bo;Muster;5a;\n`,
        { mode: "DELTA" },
      ),
    told: {
      all: each("bo olivia", "update [groups]"),
      one: ["person bo create", "person olivia delete no_longer_synced"],
    },
    holds: {
      all: "goethe nord | 1a 5a 5b 9a | ada[5a] bo[5a] dana[9a] finn[5b] gus[5a] nele[1a] olivia[5b] sina tina[5a 5b] tom[1a] | -",
      one: "goethe | 5a | ada[5a] bo[5a] gus[5a] tina[5a] | -",
    },
  },
  {
    what: "a group is renamed",
    on: "2025-11-03",
    act: (world) => world.change((it) => renameGroup(it, { groupId: world.group("5a"), name: "5mint" })),
    told: { all: ["group 5mint update [name]"], one: ["group 5mint update [name]"] },
    holds: {
      all: "goethe nord | 1a 5b 5mint 9a | ada[5mint] bo[5mint] dana[9a] finn[5b] gus[5mint] nele[1a] olivia[5b] sina tina[5b 5mint] tom[1a] | -",
      one: "goethe | 5mint | ada[5mint] bo[5mint] gus[5mint] tina[5mint] | -",
    },
  },
  {
    what: "two leave",
    on: "2025-12-05",
    act: (world) =>
      world.importRoster(
        world.school("goethe"),
        `${columns}gus;student;Gus;Groß;;deleted\nfinn;student;Finn;Zander;;deleted\n`,
        { mode: "DELTA" },
      ),
    told: {
      all: each("finn gus", "delete [status] soft_deleted until 2026-01-04"),
      one: each("gus", "delete [status] soft_deleted until 2026-01-04"),
      login: each("gus", "delete [status] soft_deleted until 2026-01-04 (of no school)"),
    },
    holds: {
      all: "goethe nord | 1a 5b 5mint 9a | ada[5mint] bo[5mint] dana[9a] nele[1a] olivia[5b] sina tina[5b 5mint] tom[1a] | finn gus",
      one: "goethe | 5mint | ada[5mint] bo[5mint] tina[5mint] | gus",
      login: "- | - | dana sina | gus",
    },
  },
  {
    what: "one of them returns, is deleted by mistake, and returns again",
    on: "2025-12-15",
    async act(world) {
      const personId = world.person("finn");
      await world.change((it) => restorePerson(it, { personId }));
      await world.change((it) => softDeletePerson(it, { personId, restoreWindowDays: 30 }));
      await world.change((it) => restorePerson(it, { personId }));
    },
    told: {
      all: [
        "person finn restore [status]",
        "person finn delete [status] soft_deleted until 2026-01-14",
        "person finn restore [status]",
      ],
    },
    holds: {
      all: "goethe nord | 1a 5b 5mint 9a | ada[5mint] bo[5mint] dana[9a] finn[5b] nele[1a] olivia[5b] sina tina[5b 5mint] tom[1a] | gus",
    },
  },
  {
    what: "the purge leaves alone who may still return",
    on: "2026-01-03",
    act: (world) => world.service.runJob("directory.purgePeople"),
    told: {},
  },
  {
    what: "the other is deleted for good once the restore window is over",
    on: "2026-01-05",
    act: (world) => world.service.runJob("directory.purgePeople"),
    told: {
      all: ["person gus delete deleted"],
      one: ["person gus delete deleted"],
      login: ["person gus delete deleted (of no school)"],
    },
    holds: {
      all: "goethe nord | 1a 5b 5mint 9a | ada[5mint] bo[5mint] dana[9a] finn[5b] nele[1a] olivia[5b] sina tina[5b 5mint] tom[1a] | -",
      one: "goethe | 5mint | ada[5mint] bo[5mint] tina[5mint] | -",
      login: "- | - | dana sina | -",
    },
  },
  {
    what: "a pupil of one school is a guest at the other",
    on: "2026-02-02",
    act: (world) =>
      world.change(async (it) => {
        await joinSchool(it, { personId: world.person("nele"), schoolId: world.school("goethe") });
        await addMembership(it, { personId: world.person("nele"), groupId: world.group("5mint") });
      }),
    told: { all: ["person nele update [groups]"], one: ["person nele create"] },
    holds: {
      all: "goethe nord | 1a 5b 5mint 9a | ada[5mint] bo[5mint] dana[9a] finn[5b] nele[1a 5mint] olivia[5b] sina tina[5b 5mint] tom[1a] | -",
      one: "goethe | 5mint | ada[5mint] bo[5mint] nele[5mint] tina[5mint] | -",
    },
  },
  {
    what: "a school moves house",
    on: "2026-02-09",
    act: (world) =>
      world.change((it) =>
        updateSchool(it, {
          schoolId: world.school("goethe"),
          address: { address: "Am Deich 1", city: "Stade", zipCode: "21680" },
        }),
      ),
    told: { all: ["school goethe update [address]"], one: ["school goethe update [address]"] },
  },
  {
    what: "sync is switched off; the guest stays through the other school, and who signed in once stays a user",
    on: "2026-02-16",
    act: (world) =>
      world.change((it) =>
        setSync(it, { clientId: clientOf(world, "all"), schoolId: world.school("goethe"), sync: false }),
      ),
    told: {
      all: [
        ...each("ada bo dana finn olivia sina", "delete access_withdrawn"),
        ...["5b", "5mint", "9a"].map((name) => `group ${name} delete access_withdrawn`),
        ...[
          "school goethe delete access_withdrawn",
          "person nele update [groups]",
          "person tina update [groups] (of no school)",
        ],
      ],
    },
    holds: { all: "nord | 1a | nele[1a] tina tom[1a] | -" },
  },
  {
    what: "and on again",
    on: "2026-02-23",
    act: (world) =>
      world.change((it) =>
        setSync(it, { clientId: clientOf(world, "all"), schoolId: world.school("goethe"), sync: true }),
      ),
    told: {
      all: [
        ...["school goethe create", "group 5b create", "group 5mint create", "group 9a create"],
        ...each("ada bo dana finn olivia sina", "create"),
        ...each("nele tina", "update [groups]"),
      ],
    },
    holds: {
      all: "goethe nord | 1a 5b 5mint 9a | ada[5mint] bo[5mint] dana[9a] finn[5b] nele[1a 5mint] olivia[5b] sina tina[5b 5mint] tom[1a] | -",
    },
  },
  {
    what: "another group is synced",
    on: "2026-03-02",
    act: (world) => sync(world, "one", "goethe", ["5mint", "5b"]),
    told: { one: ["group 5b create", ...each("finn olivia", "create"), "person tina update [groups]"] },
    holds: { one: "goethe | 5b 5mint | ada[5mint] bo[5mint] finn[5b] nele[5mint] olivia[5b] tina[5b 5mint] | -" },
  },
  {
    what: "the first group is no longer synced",
    on: "2026-03-16",
    act: (world) => sync(world, "one", "goethe", ["5b"]),
    told: {
      one: [
        "group 5mint delete no_longer_synced",
        ...each("ada bo nele", "delete no_longer_synced"),
        "person tina update [groups]",
      ],
    },
    holds: { one: "goethe | 5b | finn[5b] olivia[5b] tina[5b] | -" },
  },
  {
    what: "the year changes: two groups go on, one ends, one is new; one leaves, one stays behind, one comes",
    on: "2026-08-17",
    act(world) {
      const roster = `ada;student;Ada;Muster;6a
bo;student;Bo;Muster;6a
ole;student;Olivia;Beispiel;6b
finn;student;Finn;Zander;5a
hugo;student;Hugo;Neu;5a
tina;teacher;Tina;Öztürk;5a|6b
sina;other;Sina;Schmidt;
`;
      const carryOvers = new Map([
        ["class:6a", "class:5a"],
        ["class:6b", "class:5b"],
      ]);
      return world.importRoster(world.school("goethe"), columns.replace(";status", "") + roster, {
        schoolYear: "2026/27",
        carryOvers,
      });
    },
    told: {
      all: [
        ...["group 6a update [name]", "group 6b update [name]", "group 9a delete [status] deleted"],
        ...[
          "person dana delete [status] soft_deleted until 2026-09-16",
          "person hugo create",
          ...each("finn tina", "update [groups]"),
        ],
      ],
      one: ["group 6b update [name]", "person finn delete no_longer_synced"],
      login: ["person dana delete [status] soft_deleted until 2026-09-16 (of no school)"],
    },
    holds: {
      all: "goethe nord | 1a 6a 6b | ada[6a] bo[6a] finn hugo nele[1a 6a] olivia[6b] sina tina[6b] tom[1a] | dana",
      one: "goethe | 6b | olivia[6b] tina[6b] | -",
      login: "- | - | sina | dana",
    },
  },
  {
    what: "the new class is synced, the one that ended no longer",
    on: "2026-08-24",
    act: (world) => sync(world, "all", "goethe", ["5a", "6a", "6b"]),
    told: {
      all: ["group 5a create", "group 9a delete no_longer_synced", ...each("finn hugo tina", "update [groups]")],
    },
    holds: {
      all: "goethe nord | 1a 5a 6a 6b | ada[6a] bo[6a] finn[5a] hugo[5a] nele[1a 6a] olivia[6b] sina tina[5a 6b] tom[1a] | dana",
    },
  },
  {
    what: "the guest leaves",
    on: "2026-08-31",
    act: (world) =>
      world.change((it) => leaveSchool(it, { personId: world.person("nele"), schoolId: world.school("goethe") })),
    told: { all: ["person nele update [groups]"] },
    holds: {
      all: "goethe nord | 1a 5a 6a 6b | ada[6a] bo[6a] finn[5a] hugo[5a] nele[1a] olivia[6b] sina tina[5a 6b] tom[1a] | dana",
    },
  },
  {
    what: "one school takes everything back from an app",
    on: "2026-09-07",
    act: (world) =>
      world.change((it) => withdrawGrant(it, { clientId: clientOf(world, "all"), schoolId: world.school("nord") })),
    told: {
      all: [
        ...each("nele tom", "delete access_withdrawn"),
        "group 1a delete access_withdrawn",
        "school nord delete access_withdrawn",
      ],
    },
    holds: { all: "goethe | 5a 6a 6b | ada[6a] bo[6a] finn[5a] hugo[5a] olivia[6b] sina tina[5a 6b] | dana" },
  },
  {
    what: "the other one takes sign-on back from another; its users stay its users",
    on: "2026-09-08",
    act: (world) =>
      world.change((it) => withdrawGrant(it, { clientId: clientOf(world, "login"), schoolId: world.school("goethe") })),
    told: {},
  },
  {
    what: "who left with the old year is deleted for good",
    on: "2026-09-17",
    act: (world) => world.service.runJob("directory.purgePeople"),
    told: { all: ["person dana delete deleted"], login: ["person dana delete deleted (of no school)"] },
    holds: {
      all: "goethe | 5a 6a 6b | ada[6a] bo[6a] finn[5a] hugo[5a] olivia[6b] sina tina[5a 6b] | -",
      login: "- | - | sina | -",
    },
  },
];
