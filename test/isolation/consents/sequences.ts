import { addFace } from '../other-steps.ts'
import { sequences } from '../sequences.ts'
import { changeTeam, detailOfLent, lend, listScoped, returnLent, revoke } from '../shares/steps.ts'
import { actAsPerson, addLink, readConsent, useFace, withdraw } from './steps.ts'

/** Sequences in which persons, and owners for them, withdraw consents to groups that are also lent. */
export const consentSequences = () =>
  sequences([
    ...[
      addFace,
      addFace,
      addFace,
      lend,
      lend,
      lend,
      lend,
      lend,
      revoke,
      returnLent,
      returnLent,
      changeTeam,
      detailOfLent,
      listScoped('assets'),
    ],
    ...[readConsent, readConsent, readConsent, readConsent, readConsent, readConsent, withdraw, withdraw],
    ...[addLink, addLink, addLink, actAsPerson, actAsPerson, actAsPerson, actAsPerson, useFace, useFace, useFace],
  ])
