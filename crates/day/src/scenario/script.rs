//! Shell scripts that acquire, renew and release.

use crate::{
    cmd::DONE,
    end::PossibleEnd,
    stage::{ScenarioStage, ms, pass},
};

/// The script of the docs: a permit, a trap, work, a renewal, work.
const ORDERLY: &str = r#"
ticket=$(seinpaal acquire "$NAME" -j 2) || exit
trap 'seinpaal release "$NAME" "$ticket"' EXIT
SEINPAAL_NAME=$NAME day hold "$WORK" >/dev/null
seinpaal renew "$NAME" "$ticket" || exit
echo done
"#;

/// A released permit is gone, so renewing or releasing it again ends with 122.
const TWICE: &str = r#"
ticket=$(seinpaal acquire "$NAME" -j 2) || exit
seinpaal release "$NAME" "$ticket" || exit
seinpaal renew "$NAME" "$ticket"
"#;

pub(super) fn play(stage: &ScenarioStage<'_>) {
    let (mut rng, name) = (stage.rng.clone(), stage.name("deploy"));
    while !stage.left(ms(6000)).is_zero() {
        let work = ms(rng.u64(200..4000)).as_secs_f64();
        let prefix = format!("NAME={name} WORK={work}\n");
        let job = match rng.u64(..4) {
            0 => {
                let gone = PossibleEnd::told(122, &["ticket"]);
                stage.script(&(prefix + TWICE)).may_end(gone)
            }
            _ => stage.script(&(prefix + ORDERLY)).may_end(PossibleEnd::own(0, DONE)),
        };
        job.wants(&name, 2, 0).hurried().start().wait(stage.bound());
        pass(ms(rng.u64(200..3000)));
    }
}
