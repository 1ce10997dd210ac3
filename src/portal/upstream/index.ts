import { makeArea, onlyIf } from "../frame/index.ts";
import * as connections from "./connection.ts";
import { showLinks, unlink } from "./links.ts";
import * as overview from "./overview.ts";
import * as refusals from "./refusals.ts";

export { makeSetUpPages, type SetUpDeps } from "./set-up/index.ts";

const base = "/admin/schools/:schoolId/own-login";
const one = `${base}/:connectionId`;

/** `/admin/schools/:schoolId/own-login`: the logins that a school has elsewhere, and the way in. */
export const upstreamPages = makeArea({ folder: import.meta.dirname, page: "settings" }, (pages) => {
  const show = onlyIf("listUpstreamConnections", overview.showOverview);
  pages.get(base, show);
  pages.post(base, overview.createConnection, show);
  pages.post(`${base}/way-in`, overview.changeWayIn, show);
  pages.post(`${base}/emergency`, overview.openEmergency, show);
  pages.post(`${base}/emergency/end`, overview.closeEmergency, show);
  pages.get(`${base}/poster`, onlyIf("getWayIn", overview.showPoster));
  const showOne = onlyIf("getUpstreamConnection", connections.showConnection);
  pages.get(one, showOne);
  pages.post(`${one}/settings`, connections.changeSettings, showOne);
  pages.post(`${one}/rule`, connections.changeRule, showOne);
  pages.post(`${one}/on`, connections.switchOn, showOne);
  pages.post(`${one}/off`, connections.switchOff, showOne);
  pages.post(`${one}/confirmation`, connections.confirmForStaff, showOne);
  pages.post(`${one}/check`, connections.checkConnection, showOne);
  pages.post(`${one}/deletion`, connections.deleteConnection, showOne);
  pages.post(`${one}/set-up-links`, connections.createSetUpLink, showOne);
  pages.post(`${one}/set-up-links/:setUpLinkId/close`, connections.closeSetUpLink, showOne);
  const list = onlyIf("listUpstreamRefusals", refusals.showRefusals);
  pages.get(`${one}/refusals`, list);
  pages.post(`${one}/refusals/guests`, refusals.decideGuests, list);
  pages.post(`${one}/refusals/:refusalId/search`, refusals.searchPerson, list);
  pages.post(`${one}/refusals/:refusalId/link`, refusals.linkByHand, list);
  pages.post(`${one}/refusals/:refusalId/dismissal`, refusals.dismissRefusal, list);
  const links = onlyIf("listUpstreamLinks", showLinks);
  pages.get(`${one}/links`, links);
  pages.post(`${one}/links/:personId/end`, unlink, links);
});

/** `/admin/logins`: the connections of all schools in reach. */
export const upstreamServicePages = makeArea({ folder: import.meta.dirname, page: "operator_logins" }, (pages) =>
  pages.get("/admin/logins", onlyIf("listUpstreamConnections", overview.showService)),
);
