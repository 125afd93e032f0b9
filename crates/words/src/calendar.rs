//! Days and dates. A year begins in March here, so that the leap day is its last day.

/// The number of days from 1 March of the year 0 to 1 January 1970.
const BEFORE_1970: i64 = 719_468;
/// The number of days in four hundred years, after which the pattern of leap years repeats.
const ERA: i64 = 146_097;

/// Returns the number of days from 1 January 1970 to this date, or `None` if there is no such date.
#[must_use]
pub fn day_number(year: i64, month: i64, day: i64) -> Option<i64> {
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let length = match month {
        2 if is_leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => return None,
    };
    let since_march = (month + 9) % 12;
    let year = year - i64::from(month < 3);
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    let days = year * 365 + leaps + before_month(since_march) + day - 1;
    (1..=length).contains(&day).then_some(days - BEFORE_1970)
}

/// Returns the year, month and day of a number of days since 1 January 1970.
#[must_use]
pub fn date(day_number: i64) -> (i64, i64, i64) {
    let days = day_number + BEFORE_1970;
    let (era, of_era) = (days.div_euclid(ERA), days.rem_euclid(ERA));
    // Without the leap days before this day, every year has 365 days.
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let since_march = (5 * of_year + 2) / 153;
    let month = (since_march + 2) % 12 + 1;
    (era * 400 + year + i64::from(month < 3), month, of_year - before_month(since_march) + 1)
}

/// Returns the number of days from March to the beginning of a month. From March on, five months
/// have 31, 30, 31, 30 and 31 days, which is 153, and the pattern repeats.
fn before_month(since_march: i64) -> i64 {
    (153 * since_march + 2) / 5
}

/// Writes a moment, given in seconds since 1970, as text.
#[must_use]
pub fn instant(seconds: u64) -> String {
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    let (year, month, day) = date(i64::try_from(days).unwrap_or_default());
    let (hour, minute, second) = (rest / 3600, rest / 60 % 60, rest % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_are_those_of_the_calendar() {
        assert_eq!(date(0), (1970, 1, 1));
        assert_eq!(day_number(2000, 2, 29), Some(11_016));
        assert_eq!(date(11_016), (2000, 2, 29));
        assert_eq!((day_number(2030, 2, 29), day_number(2030, 13, 1)), (None, None));
    }

    #[test]
    fn each_day_of_eight_hundred_years_is_the_day_of_its_date() {
        for day in -2 * ERA..2 * ERA {
            let (year, month, of_month) = date(day);
            assert_eq!(day_number(year, month, of_month), Some(day));
        }
    }

    #[test]
    fn instants_are_written_as_everybody_writes_them() {
        assert_eq!(instant(0), "1970-01-01T00:00:00Z");
        assert_eq!(instant(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(instant(1_795_405_929), "2026-11-23T03:52:09Z");
        assert_eq!(instant(4_107_542_399), "2100-02-28T23:59:59Z");
    }
}
