// The names are those of Unicode's CLDR 41, in the form that they have within a date.
#include "forms.hpp"

namespace dates {

namespace {

constexpr auto no_ending = [](unsigned) -> std::string_view { return ""; };
constexpr auto english_ending = [](unsigned day) -> std::string_view {
  if (day / 10 == 1) return "th";
  return day % 10 == 1 ? "st" : day % 10 == 2 ? "nd" : day % 10 == 3 ? "rd" : "th";
};
// Of the first only: 1er mars, 1º marzo.
constexpr auto french_ending = [](unsigned day) -> std::string_view {
  return day == 1 ? "er" : "";
};
constexpr auto masculine_ending = [](unsigned day) -> std::string_view {
  return day == 1 ? "º" : "";
};

}  // namespace

std::span<const locale> locales() {
  static const locale all[] = {
      {.name = "en-GB",
       .months = {"January", "February", "March", "April", "May", "June", "July", "August",
                  "September", "October", "November", "December"},
       .short_months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sept", "Oct",
                        "Nov", "Dec"},
       .weekdays = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"},
       .short_weekdays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"},
       .ordinal = english_ending,
       .patterns = {"d MMMM y", "o 'of' MMMM y", "o MMMM y", "EEEE, d MMMM y", "EEEE o MMMM y",
                    "EEE d MMM y", "EEE, d MMM y", "d MMM y", "d MMM yy", "o MMM ''yy",
                    "'the' o 'of' MMMM, y", "dd/MM/y", "dd/MM/yy", "d/M/yy", "d-MMM-y",
                    "EEE dd/MM/yy"}},
      {.name = "en-US",
       .months = {"January", "February", "March", "April", "May", "June", "July", "August",
                  "September", "October", "November", "December"},
       .short_months = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov",
                        "Dec"},
       .weekdays = {"Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"},
       .short_weekdays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"},
       .ordinal = english_ending,
       .patterns = {"MMMM d, y", "MMMM o, y", "EEEE, MMMM d, y", "EEE, MMM d, y", "MMM d, y",
                    "MMM d y", "MMM d ''yy", "y MMM dd"}},
      {.name = "de",
       .months = {"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August",
                  "September", "Oktober", "November", "Dezember"},
       .short_months = {"Jan.", "Feb.", "März", "Apr.", "Mai", "Juni", "Juli", "Aug.", "Sept.",
                        "Okt.", "Nov.", "Dez."},
       .weekdays = {"Sonntag", "Montag", "Dienstag", "Mittwoch", "Donnerstag", "Freitag",
                    "Samstag"},
       .short_weekdays = {"So.", "Mo.", "Di.", "Mi.", "Do.", "Fr.", "Sa."},
       .ordinal = no_ending,
       .patterns = {"d. MMMM y", "EEEE, d. MMMM y", "EEEE, 'den' d. MMMM y", "EEE, d. MMM y",
                    "d. MMM y", "d. MMM ''yy", "dd.MM.y", "dd.MM.yy", "d.M.yy", "d.M.y",
                    "EEE d.M.yy"}},
      {.name = "fr",
       .months = {"janvier", "février", "mars", "avril", "mai", "juin", "juillet", "août",
                  "septembre", "octobre", "novembre", "décembre"},
       .short_months = {"janv.", "févr.", "mars", "avr.", "mai", "juin", "juil.", "août", "sept.",
                        "oct.", "nov.", "déc."},
       .weekdays = {"dimanche", "lundi", "mardi", "mercredi", "jeudi", "vendredi", "samedi"},
       .short_weekdays = {"dim.", "lun.", "mar.", "mer.", "jeu.", "ven.", "sam."},
       .ordinal = french_ending,
       .patterns = {"o MMMM y", "'le' o MMMM y", "EEEE o MMMM y", "EEE o MMM y", "o MMM y",
                    "dd/MM/y", "dd/MM/yy", "EEE dd/MM/y"}},
      {.name = "es",
       .months = {"enero", "febrero", "marzo", "abril", "mayo", "junio", "julio", "agosto",
                  "septiembre", "octubre", "noviembre", "diciembre"},
       .short_months = {"ene", "feb", "mar", "abr", "may", "jun", "jul", "ago", "sept", "oct",
                        "nov", "dic"},
       .weekdays = {"domingo", "lunes", "martes", "miércoles", "jueves", "viernes", "sábado"},
       .short_weekdays = {"dom", "lun", "mar", "mié", "jue", "vie", "sáb"},
       .ordinal = no_ending,
       .patterns = {"d 'de' MMMM 'de' y", "d 'de' MMMM 'del' y", "EEEE, d 'de' MMMM 'de' y",
                    "EEE, d MMM y", "d MMM y", "d/M/y", "d/M/yy", "dd-MM-yy"}},
      {.name = "it",
       .months = {"gennaio", "febbraio", "marzo", "aprile", "maggio", "giugno", "luglio", "agosto",
                  "settembre", "ottobre", "novembre", "dicembre"},
       .short_months = {"gen", "feb", "mar", "apr", "mag", "giu", "lug", "ago", "set", "ott", "nov",
                        "dic"},
       .weekdays = {"domenica", "lunedì", "martedì", "mercoledì", "giovedì", "venerdì", "sabato"},
       .short_weekdays = {"dom", "lun", "mar", "mer", "gio", "ven", "sab"},
       .ordinal = masculine_ending,
       .patterns = {"o MMMM y", "EEEE o MMMM y", "EEE d MMM y", "d MMM y", "d MMM yy", "dd/MM/yy",
                    "d/M/y"}},
      {.name = "pt",
       .months = {"janeiro", "fevereiro", "março", "abril", "maio", "junho", "julho", "agosto",
                  "setembro", "outubro", "novembro", "dezembro"},
       .short_months = {"jan.", "fev.", "mar.", "abr.", "mai.", "jun.", "jul.", "ago.", "set.",
                        "out.", "nov.", "dez."},
       .weekdays = {"domingo", "segunda-feira", "terça-feira", "quarta-feira", "quinta-feira",
                    "sexta-feira", "sábado"},
       .short_weekdays = {"dom.", "seg.", "ter.", "qua.", "qui.", "sex.", "sáb."},
       .ordinal = masculine_ending,
       .patterns = {"d 'de' MMMM 'de' y", "o 'de' MMMM 'de' y", "EEEE, d 'de' MMMM 'de' y",
                    "EEE, d 'de' MMM 'de' y", "d 'de' MMM 'de' y", "dd/MM/y", "dd/MM/yy"}},
      {.name = "tr",
       .months = {"Ocak", "Şubat", "Mart", "Nisan", "Mayıs", "Haziran", "Temmuz", "Ağustos",
                  "Eylül", "Ekim", "Kasım", "Aralık"},
       .short_months = {"Oca", "Şub", "Mar", "Nis", "May", "Haz", "Tem", "Ağu", "Eyl", "Eki", "Kas",
                        "Ara"},
       .weekdays = {"Pazar", "Pazartesi", "Salı", "Çarşamba", "Perşembe", "Cuma", "Cumartesi"},
       .short_weekdays = {"Paz", "Pzt", "Sal", "Çar", "Per", "Cum", "Cmt"},
       .ordinal = no_ending,
       .patterns = {"d MMMM y", "d MMMM y EEEE", "d MMM y", "d MMM y EEE", "d MMMM y, EEEE",
                    "d.MM.y", "dd.MM.yy"}},
      {.name = "nl",
       .months = {"januari", "februari", "maart", "april", "mei", "juni", "juli", "augustus",
                  "september", "oktober", "november", "december"},
       .short_months = {"jan.", "feb.", "mrt.", "apr.", "mei", "jun.", "jul.", "aug.", "sep.",
                        "okt.", "nov.", "dec."},
       .weekdays = {"zondag", "maandag", "dinsdag", "woensdag", "donderdag", "vrijdag", "zaterdag"},
       .short_weekdays = {"zo", "ma", "di", "wo", "do", "vr", "za"},
       .ordinal = no_ending,
       .patterns = {"d MMMM y", "EEEE d MMMM y", "EEE d MMM y", "d MMM y", "dd-MM-y", "d-M-yy"}},
      {.name = "sv",
       .months = {"januari", "februari", "mars", "april", "maj", "juni", "juli", "augusti",
                  "september", "oktober", "november", "december"},
       .short_months = {"jan.", "feb.", "mars", "apr.", "maj", "juni", "juli", "aug.", "sep.",
                        "okt.", "nov.", "dec."},
       .weekdays = {"söndag", "måndag", "tisdag", "onsdag", "torsdag", "fredag", "lördag"},
       .short_weekdays = {"sön", "mån", "tis", "ons", "tors", "fre", "lör"},
       .ordinal = no_ending,
       .patterns = {"d MMMM y", "'den' d MMMM y", "EEEE d MMMM y", "EEE d MMM y", "d MMM y",
                    "y-MM-dd", "d/M y"}},
  };
  return all;
}

}  // namespace dates
