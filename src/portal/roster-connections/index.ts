import { makeArea, onlyIf } from "../frame/index.ts";
import { base, createConnection, one, readSettings, run, showConnection, showConnections, showNew } from "./pages.ts";

/** `/admin/schools/:schoolId/roster-connections`: rosters that are fetched from other programs. */
export const rosterConnectionPages = makeArea({ folder: import.meta.dirname, page: "imports" }, (pages) => {
  pages.get(base, onlyIf("listRosterConnections", showConnections));
  pages.form(`${base}/new`, createConnection, onlyIf("createRosterConnection", showNew));
  const onOne = { to: one, again: onlyIf("getRosterConnection", showConnection) };
  pages.get(one, onOne.again);
  pages.act(`${one}/settings`, "updateRosterConnection", { ...onOne, fields: readSettings, done: "connectionChanged" });
  pages.act(`${one}/on`, "updateRosterConnection", {
    ...onOne,
    fields: () => ({ state: "ON" as const }),
    done: "connectionOn",
  });
  pages.act(`${one}/off`, "updateRosterConnection", {
    ...onOne,
    fields: () => ({ state: "OFF" as const }),
    done: "connectionOff",
  });
  pages.post(`${one}/test`, run("testRosterConnection"), onOne.again);
  pages.post(`${one}/run`, run("runRosterConnection"), onOne.again);
  pages.act(`${one}/deletion`, "deleteRosterConnection", { to: base, again: onOne.again, done: "connectionDeleted" });
});
