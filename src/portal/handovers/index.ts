import { makeArea, onlyIf } from "../frame/index.ts";
import { offer, showOffer } from "./offer.ts";
import { accept, decline, showHandover, showHandovers, withdraw } from "./handover.ts";

const handovers = "/admin/schools/:schoolId/handovers";
const one = `${handovers}/:handoverId`;

/** `/admin/schools/:schoolId/handovers`: pupils are handed over to another school and received. */
export const handoverPages = makeArea({ folder: import.meta.dirname, page: "people" }, (pages) => {
  pages.get(handovers, showHandovers);
  pages.form(`${handovers}/new`, offer, onlyIf("createHandover", showOffer));
  pages.get(one, showHandover);
  pages.post(`${one}/accept`, accept, showHandover);
  pages.post(`${one}/decline`, decline, showHandover);
  pages.post(`${one}/withdraw`, withdraw, showHandover);
});
