import { Type } from '@sinclair/typebox'
import { consentExportSchema, consentSchema, consentUseSchema } from '../../shared/consent/schema.ts'
import { jsonResponse, noStoreHeader, pathParameter } from '../../shared/plugin/openapi.ts'
import { page } from '../schema/bodies.ts'
import { keysetParameters, libraryOperation, result } from '../schema/operations.ts'

const groupId = {
  parameters: [
    pathParameter('group_id', "Id of one of the caller's groups of type LivenessFace, also of a deleted one"),
  ],
}

/** Elysia options of the routes of consents. */
export const consentDocs = {
  get: libraryOperation(
    'getConsent',
    'Get the consent of the person of a group',
    { 200: result('The consent', consentSchema) },
    groupId,
  ),
  uses: libraryOperation(
    'listConsentUses',
    'List the video tasks that have used a group, of its owner and of borrowers',
    { 200: result('The tasks, newest first', page('ConsentUsePage', consentUseSchema)) },
    { parameters: [...groupId.parameters, ...keysetParameters] },
  ),
  withdraw: libraryOperation(
    'withdrawConsent',
    'Withdraw the consent of a person, for the person',
    { 200: result('The consent', consentSchema) },
    {
      ...groupId,
      description:
        'Final, and at once: no request that refers to an asset of the group is accepted any more, the group is lent no more, and tasks that wait fail with the code consent_withdrawn. Tasks that were sent before go on, and are in the list of uses. Again: nothing changes',
    },
  ),
  remove: libraryOperation(
    'deleteConsentedData',
    'Withdraw a consent, and delete the assets, results and group',
    { 200: result('The consent. The deletion goes on in the background', consentSchema) },
    {
      ...groupId,
      description:
        'Results of tasks that still run are deleted when they have ended. The ledger keeps the invitation, the withdrawal and numbers',
    },
  ),
  addLink: libraryOperation(
    'addConsentLink',
    'Make another link for the person of a group',
    {
      200: result(
        'The link. Only this response contains it',
        Type.Object(
          {
            URL: Type.String({ description: 'The page on which the person withdraws the consent. A secret' }),
            CreateTime: Type.String({ description: 'ISO 8601 with a UTC offset' }),
          },
          { title: 'ConsentLink' },
        ),
      ),
    },
    groupId,
  ),
  export: libraryOperation(
    'exportConsent',
    'Get a consent and its uses as a signed document',
    { 200: jsonResponse('The document', consentExportSchema, noStoreHeader) },
    groupId,
  ),
}
