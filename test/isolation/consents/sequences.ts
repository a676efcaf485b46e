import { addFace } from '../other-steps.ts'
import { rareSteps, sequences } from '../sequences.ts'
import { changeTeam, detailOfLent, lend, lendFace, listScoped, returnLent, revoke } from '../shares/steps.ts'
import { actAsPerson, addLink, loseFace, readConsent, showFace, useFace, withdraw } from './steps.ts'

const [groupsInScope, assetsInScope] = [listScoped('groups'), listScoped('assets')]

/** Sequences in which persons, and owners for them, withdraw consents to groups that are also lent. */
export const consentSequences = () =>
  sequences(
    [
      ...[addFace, addFace, addFace, lend, lendFace, lendFace, lendFace, lendFace, lendFace],
      ...[revoke, returnLent, returnLent, changeTeam, detailOfLent],
      ...[assetsInScope, assetsInScope, assetsInScope, groupsInScope, groupsInScope, groupsInScope],
      ...[readConsent, readConsent, readConsent, readConsent, readConsent, readConsent, withdraw, withdraw],
      ...[addLink, addLink, addLink, actAsPerson, actAsPerson, actAsPerson, actAsPerson],
      ...[useFace, useFace, useFace, loseFace, showFace, showFace, showFace],
    ],
    rareSteps,
  )
