import { makeArea, onlyIf } from "../frame/index.ts";
import { deleteBatch, handOut, showBatch } from "./batch.ts";
import { changeLetter, showLetter } from "./letter.ts";
import { showStart, startBatch } from "./start.ts";

const credentials = "/admin/schools/:schoolId/credentials";
const letter = `${credentials}/letter`;
const batch = `${credentials}/:credentialBatchId`;

/** `/admin/schools/:schoolId/credentials`: cards and passwords for several classes or the whole school. */
export const credentialsPages = makeArea({ folder: import.meta.dirname, page: "classes" }, (pages) => {
  pages.form(credentials, startBatch, onlyIf("createCredentialBatch", showStart));
  pages.form(letter, changeLetter, onlyIf("putParentLetter", showLetter));
  pages.get(batch, showBatch);
  pages.post(`${batch}/document`, handOut, showBatch);
  pages.post(`${batch}/delete`, deleteBatch, showBatch);
});
