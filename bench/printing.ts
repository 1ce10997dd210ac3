// Sign-ons beside staff who make and print 200 login cards again and again, against the same service without them.
import { measureSignOnsBeside } from "./beside/sign-ons.ts";
import { prepareStaff, repeatEach, staffCount } from "./beside/staff.ts";

await measureSignOnsBeside({
  title: `${String(staffCount)} who print 200 login cards each without a pause`,
  async prepare(world) {
    const { users, classAddress } = await prepareStaff(world);
    let [printed, refused] = [0, 0];
    return {
      run: (signal) =>
        repeatEach(users, signal, async ({ browser }) => {
          const page = await browser.open(`${classAddress}/logins`);
          const cards = await browser.submit(page, "/logins", { kind: "cards", newPasswords: "no" });
          const isPdf = cards.status === 200 && (await browser.submit(cards, "/cards")).status === 200;
          if (isPdf) printed++;
          else refused++;
        }),
      summary: () => `PDFs of 200 cards meanwhile: ${String(printed)}; refused: ${String(refused)}`,
    };
  },
});
