import { makeArea, onlyIf, type PageRequest } from "../frame/index.ts";
import { readClasses } from "./connection-form.ts";
import * as connections from "./connection.ts";
import * as overview from "./overview.ts";
import * as refusals from "./refusals.ts";

export { makeSetUpPages, type SetUpDeps } from "./set-up/index.ts";

const { base } = overview;
const { one } = connections;
const { refusals: list } = refusals;
const links = `${one}/links`;

/** `/admin/schools/:schoolId/own-login`: the logins that a school has elsewhere, and the way in. */
export const upstreamPages = makeArea({ folder: import.meta.dirname, page: "settings" }, (pages) => {
  const onOverview = { to: base, again: onlyIf("listUpstreamConnections", overview.showOverview) };
  pages.get(base, onOverview.again);
  pages.post(base, overview.createConnection, onOverview.again);
  pages.act(`${base}/way-in`, "putWayIn", { ...onOverview, fields: overview.readWayIn, done: "wayInChanged" });
  pages.act(`${base}/emergency`, "setEmergencySignIn", { ...onOverview, done: "emergencyOpened" });
  pages.act(`${base}/emergency/end`, "withdrawEmergencySignIn", { ...onOverview, done: "emergencyClosed" });
  pages.get(`${base}/poster`, onlyIf("getWayIn", overview.showPoster));
  const onOne = {
    check: connections.readConnection,
    to: one,
    again: onlyIf("getUpstreamConnection", (request) => connections.showConnection(request)),
  };
  pages.get(one, onOne.again);
  const change = "updateUpstreamConnection";
  pages.act(`${one}/settings`, change, { ...onOne, fields: connections.readSettings, done: "connectionChanged" });
  pages.post(`${one}/rule`, connections.changeRule, onOne.again);
  const switchOn = (request: PageRequest) => ({ state: "ON" as const, groupIds: readClasses(request) });
  pages.act(`${one}/on`, change, { ...onOne, fields: switchOn, done: "connectionOn" });
  pages.act(`${one}/off`, change, { ...onOne, fields: () => ({ state: "OFF" as const }), done: "connectionOff" });
  const confirm = () => ({ confirmedForStaff: true });
  pages.act(`${one}/confirmation`, change, { ...onOne, fields: confirm, done: "connectionConfirmed" });
  pages.post(`${one}/check`, connections.checkConnection, onOne.again);
  pages.act(`${one}/deletion`, "deleteUpstreamConnection", { ...onOne, to: base, done: "connectionDeleted" });
  pages.post(`${one}/set-up-links`, connections.createSetUpLink, onOne.again);
  pages.act(`${one}/set-up-links/:setUpLinkId/close`, "revokeSetUpLink", { ...onOne, done: "setUpLinkClosed" });
  const onList = {
    to: list,
    again: onlyIf("listUpstreamRefusals", (request) => refusals.showRefusals(request)),
  };
  pages.get(list, onList.again);
  pages.post(`${list}/guests`, refusals.decideGuests, onList.again);
  pages.post(`${list}/:refusalId/search`, refusals.searchPerson, onList.again);
  pages.act(`${list}/:refusalId/link`, "setUpstreamLink", {
    ...onList,
    fields: [["person", "personId"]],
    done: "accountLinked",
  });
  pages.act(`${list}/:refusalId/dismissal`, "withdrawUpstreamRefusal", { ...onList, done: "refusalDismissed" });
  const onLinks = { to: links, again: onlyIf("listUpstreamLinks", refusals.showLinks) };
  pages.get(links, onLinks.again);
  pages.act(`${links}/:personId/end`, "revokeUpstreamLink", { ...onLinks, done: "accountUnlinked" });
});

/** `/admin/logins`: the connections of all schools in reach. */
export const upstreamServicePages = makeArea({ folder: import.meta.dirname, page: "operator_logins" }, (pages) =>
  pages.get("/admin/logins", onlyIf("listUpstreamConnections", overview.showService)),
);
