export type CardLanguage = "de" | "en";

type CardWords = {
  title: string;
  file: string;
  class: string;
  username: string;
  password: string;
  secret: string;
  scan: string;
  signIn: string;
  list: string;
  pictures: Record<string, string>;
};

export const cardWords: Record<CardLanguage, CardWords> = {
  de: {
    title: "Anmeldekarten",
    file: "anmeldekarten.pdf",
    class: "Klasse",
    username: "Benutzername",
    password: "Passwort",
    secret: "Geheimzeichen",
    scan: "Mit der Kamera scannen",
    signIn: "Anmelden:",
    list: "Nur für die Lehrkraft: die Geheimzeichen zu den Karten",
    pictures: {
      sun: "Sonne",
      house: "Haus",
      tree: "Baum",
      fish: "Fisch",
      star: "Stern",
      heart: "Herz",
      boat: "Boot",
      apple: "Apfel",
      moon: "Mond",
    },
  },
  en: {
    title: "Login cards",
    file: "login-cards.pdf",
    class: "Class",
    username: "Username",
    password: "Password",
    secret: "PIN or picture",
    scan: "Scan with the camera",
    signIn: "Sign in:",
    list: "For the teacher only: the PINs and pictures of the cards",
    pictures: {
      sun: "Sun",
      house: "House",
      tree: "Tree",
      fish: "Fish",
      star: "Star",
      heart: "Heart",
      boat: "Boat",
      apple: "Apple",
      moon: "Moon",
    },
  },
};
