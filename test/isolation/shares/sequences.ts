import { sequences } from '../sequences.ts'
import { changeTeam, detailOfLent, disable, lend, listScoped, listShares, revoke } from './steps.ts'

/** Sequences in which users lend groups to one another and to a team, too. */
export const sharedSequences = () =>
  sequences([
    ...[lend, lend, lend, lend, lend, lend, lend, lend, revoke, revoke, revoke, changeTeam, changeTeam, disable],
    ...[listScoped('groups'), listScoped('groups'), listScoped('groups'), listScoped('groups')],
    ...[listScoped('assets'), listScoped('assets'), listScoped('assets'), listScoped('assets')],
    ...[detailOfLent, detailOfLent, detailOfLent, detailOfLent, listShares, listShares],
  ])
