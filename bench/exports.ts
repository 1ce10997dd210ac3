// Sign-ons beside staff who export an audit log and all that is stored about a person, against the same service
// without them.
import { measureSignOnsBeside } from "./beside/sign-ons.ts";
import { prepareStaff, repeatEach, staffCount } from "./beside/staff.ts";

await measureSignOnsBeside({
  title: `${String(staffCount)} who export 10,000 lines each without a pause`,
  async prepare(world) {
    const { users, personAddress, auditFile } = await prepareStaff(world);
    let [files, refused] = [0, 0];
    return {
      run: (signal) =>
        repeatEach(users, signal, async ({ browser }, turn) => {
          const isData = turn % 2 === 1;
          const { status } = isData
            ? await browser.submit(await browser.open(`${personAddress}/data`), turn % 4 === 1 ? "/pdf" : "/json")
            : await browser.open(auditFile);
          if (status === 200) files++;
          else refused++;
        }),
      summary: () => `files meanwhile: ${String(files)}; refused: ${String(refused)}`,
    };
  },
});
