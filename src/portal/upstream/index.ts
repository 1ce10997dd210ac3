import { makeArea, onlyIf, type PageRequest } from "../frame/index.ts";
import * as connections from "./connection.ts";
import * as overview from "./overview.ts";
import * as refusals from "./refusals.ts";

export { makeSetUpPages } from "./set-up/steps.ts";
export type { SetUpDeps } from "./set-up/visit.ts";

const { base } = overview;
const { one } = connections;

/** `/admin/schools/:schoolId/own-login`: the logins that a school has elsewhere, and the way in. */
export const upstreamPages = makeArea({ folder: import.meta.dirname, page: "settings" }, (pages) => {
  const onOverview = pages.at(base, onlyIf("listUpstreamConnections", overview.showOverview));
  onOverview.post("", overview.createConnection);
  onOverview.act("way-in", "putWayIn", "wayInChanged", { fields: overview.readWayIn });
  onOverview.act("emergency", "setEmergencySignIn", "emergencyOpened");
  onOverview.act("emergency/end", "withdrawEmergencySignIn", "emergencyClosed");
  onOverview.get("poster", onlyIf("getWayIn", overview.showPoster));
  const show = onlyIf("getUpstreamConnection", (request) => connections.showConnection(request));
  const onOne = pages.at(one, show, { check: connections.readConnection });
  const change = "updateUpstreamConnection";
  onOne.act("settings", change, "connectionChanged", { fields: connections.readSettings });
  onOne.post("rule", connections.changeRule);
  const switchOn = (request: PageRequest) => ({ state: "ON" as const, groupIds: connections.readClasses(request) });
  onOne.act("on", change, "connectionOn", { fields: switchOn });
  onOne.act("off", change, "connectionOff", { fields: () => ({ state: "OFF" as const }) });
  onOne.act("confirmation", change, "connectionConfirmed", { fields: () => ({ confirmedForStaff: true }) });
  onOne.post("check", connections.checkConnection);
  onOne.act("deletion", "deleteUpstreamConnection", "connectionDeleted", { to: base });
  onOne.post("set-up-links", connections.createSetUpLink);
  onOne.act("set-up-links/:setUpLinkId/close", "revokeSetUpLink", "setUpLinkClosed");
  const showRefusals = onlyIf("listUpstreamRefusals", (request) => refusals.showRefusals(request));
  const onRefusals = pages.at(`${one}/refusals`, showRefusals);
  onRefusals.post("guests", refusals.decideGuests);
  onRefusals.post(":refusalId/search", refusals.searchPerson);
  onRefusals.act(":refusalId/link", "setUpstreamLink", "accountLinked", { fields: [["person", "personId"]] });
  onRefusals.act(":refusalId/dismissal", "withdrawUpstreamRefusal", "refusalDismissed");
  const onLinks = pages.at(`${one}/links`, onlyIf("listUpstreamLinks", refusals.showLinks));
  onLinks.act(":personId/end", "revokeUpstreamLink", "accountUnlinked");
});

/** `/admin/logins`: the connections of all schools in reach. */
export const upstreamServicePages = makeArea(
  { folder: import.meta.dirname, page: "operator_logins" },
  (pages) => void pages.at("/admin/logins", onlyIf("listUpstreamConnections", overview.showService)),
);
