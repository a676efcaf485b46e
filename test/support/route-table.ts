/** Base path of the routes of the asset library. */
export const libraryPath = '/api/media/proxy'

/** The routes of the asset library below `libraryPath`: method, path, and guarding macro. */
export const libraryRoutes = [
  ['POST', '/assets/groups', 'caller'],
  ['GET', '/assets/groups', 'caller'],
  ['GET', '/assets/groups/:group_id', 'readsGroup'],
  ['PUT', '/assets/groups/:group_id', 'ownsGroup'],
  ['PATCH', '/assets/groups/:group_id', 'ownsGroup'],
  ['DELETE', '/assets/groups/:group_id', 'ownsGroup'],
  ['POST', '/assets/groups/:group_id/shares', 'ownsGroup'],
  ['GET', '/assets/groups/:group_id/shares', 'ownsGroup'],
  ['DELETE', '/assets/groups/:group_id/shares/:share_id', 'ownsGroup'],
  ['GET', '/assets/groups/:group_id/shares/uses', 'ownsGroup'],
  ['POST', '/assets/groups/:group_id/return', 'readsGroup'],
  ['POST', '/assets', 'caller'],
  ['GET', '/assets', 'caller'],
  ['GET', '/assets/:asset_id', 'readsAsset'],
  ['PUT', '/assets/:asset_id', 'ownsAsset'],
  ['PATCH', '/assets/:asset_id', 'ownsAsset'],
  ['DELETE', '/assets/:asset_id', 'ownsAsset'],
  ['GET', '/assets/:asset_id/uses', 'ownsAsset'],
  ['POST', '/assets/batches', 'caller'],
  ['GET', '/assets/batches', 'caller'],
  ['GET', '/assets/batches/:batch_id', 'caller'],
  ['GET', '/assets/batches/:batch_id/items', 'caller'],
  ['POST', '/assets/batches/:batch_id/cancel', 'caller'],
  ['POST', '/assets/batches/:batch_id/retry', 'caller'],
  ['POST', '/assets/batches/:batch_id/items/:position/retry', 'caller'],
  ['GET', '/assets/groups/:group_id/uses', 'ownsGroup'],
  // Also of a group that is gone: the handlers check the owner.
  ['GET', '/assets/groups/:group_id/consent', 'caller'],
  ['GET', '/assets/groups/:group_id/consent/uses', 'caller'],
  ['GET', '/assets/groups/:group_id/consent/export', 'caller'],
  ['POST', '/assets/groups/:group_id/consent/withdraw', 'caller'],
  ['POST', '/assets/groups/:group_id/consent/delete', 'caller'],
  ['POST', '/assets/groups/:group_id/consent/links', 'caller'],
] as const

/** The routes of text generation below `/v1`. The same macro guards all of them. */
export const textRoutes = [
  ['POST', '/chat/completions'],
  ['POST', '/responses'],
  ['POST', '/embeddings'],
  ['POST', '/completions'],
  ['POST', '/responses/compact'],
  ['POST', '/responses/input_tokens'],
  ['GET', '/responses'],
  ['POST', '/messages'],
  ['POST', '/messages/count_tokens'],
  ['GET', '/responses/:response_id'],
  ['DELETE', '/responses/:response_id'],
  ['POST', '/responses/:response_id/cancel'],
  ['GET', '/responses/:response_id/input_items'],
  ['GET', '/models'],
  ['GET', '/models/:model'],
  // The same with slashes, which no path of an OpenAPI document can have.
  ['GET', '/models/*'],
] as const

/** The routes of video generation below `/api/v3`. The same macro guards all of them. */
export const videoRoutes = [
  ['POST', '/contents/generations/tasks'],
  ['GET', '/contents/generations/tasks'],
  ['GET', '/contents/generations/tasks/:task_id'],
  ['DELETE', '/contents/generations/tasks/:task_id'],
] as const

/** The routes of the OpenAI API for videos below `/v1/videos`. The same macro guards all of them. */
export const openaiVideoRoutes = [
  ['POST', ''],
  ['GET', ''],
  ['POST', '/edits'],
  ['POST', '/extensions'],
  ['GET', '/:video_id'],
  ['DELETE', '/:video_id'],
  ['GET', '/:video_id/content'],
  ['POST', '/:video_id/remix'],
] as const

/** The routes for users with a browser. */
export const sessionRoutes = [
  ['GET', '/api/session'],
  ['DELETE', '/api/session'],
  ['GET', '/api/account'],
  ['PATCH', '/api/account'],
  ['GET', '/api/account/sessions'],
  ['DELETE', '/api/account/sessions'],
  ['DELETE', '/api/account/sessions/:id'],
  ['GET', '/api/tokens'],
  ['POST', '/api/tokens'],
  ['DELETE', '/api/tokens/:id'],
  ['POST', '/api/tokens/:id/rotate'],
  ['GET', '/api/usage'],
  ['GET', '/api/webhooks'],
  ['POST', '/api/webhooks'],
  ['DELETE', '/api/webhooks/:id'],
  ['POST', '/api/media/face-verifications'],
  ['GET', '/api/media/face-verifications/:id'],
] as const

/** The routes for users with a token or a session. */
export const eventRoutes = [['GET', '/api/events']] as const

/** The routes of files that take an API token or a session. */
export const uploadRoutes = [['POST', '/api/uploads']] as const

/** The routes of the MCP server. The link of an upload is its credential. */
export const mcpRoutes = [
  ['POST', '/mcp'],
  ['PUT', '/mcp/uploads/:link'],
  ['POST', '/mcp/uploads/:link'],
] as const

/** The routes that need no credential. */
export const openRoutes = [
  ['GET', '/api/files/:folder/:name'],
  ['GET', '/api/failure-advice'],
  ['GET', '/api/failure-advice/:code'],
  ['POST', '/api/session'],
  ['GET', '/api/invitations/:token'],
  ['POST', '/api/invitations/:token'],
  ['GET', '/api/media/face-verifications/callback/:state'],
  ['GET', '/api/media/face-verifications/consent-keys'],
  ['GET', '/api/media/face-verifications/consent/:secret'],
  ['GET', '/api/media/face-verifications/consent/:secret/export'],
  ['POST', '/api/media/face-verifications/consent/:secret/withdraw'],
  ['POST', '/api/media/face-verifications/consent/:secret/delete'],
  ['POST', '/api/v3/contents/generations/callbacks/:task_id/:key'],
] as const

/** The routes of a login at an identity provider, which need no credential. A server has them where a provider is configured. */
export const oidcRoutes = [
  ['GET', '/api/session/oidc'],
  ['GET', '/api/session/oidc/callback'],
] as const

/** The routes of operators below `/api/admin`: method, path, and what they are about. */
export const adminRoutes = [
  ['GET', '/users', 'people'],
  ['POST', '/users', 'people'],
  ['POST', '/users/import', 'operation'],
  ['GET', '/users/:id', 'people'],
  ['PATCH', '/users/:id', 'people'],
  ['POST', '/users/:id/invitation', 'people'],
  ['DELETE', '/users/:id/sessions', 'people'],
  ['GET', '/users/:id/limits', 'people'],
  ['GET', '/users/:id/tokens', 'people'],
  ['POST', '/users/:id/tokens', 'people'],
  ['GET', '/teams', 'people'],
  ['POST', '/teams', 'people'],
  ['PATCH', '/teams/:id', 'people'],
  ['DELETE', '/teams/:id', 'people'],
  ['GET', '/tokens', 'people'],
  ['PATCH', '/tokens/:id', 'people'],
  ['DELETE', '/tokens/:id', 'people'],
  ['POST', '/tokens/:id/rotate', 'people'],
  ['GET', '/usage', 'operation'],
  ['GET', '/audit', 'operation'],
  ['GET', '/audit/verification', 'operation'],
  ['POST', '/audit/verification', 'operation'],
  ['POST', '/groups/adopt', 'operation'],
  ['GET', '/groups/pending', 'operation'],
  ['POST', '/groups/pending/:id/adopt', 'operation'],
  ['POST', '/groups/pending/:id/release', 'operation'],
  ['GET', '/batches', 'operation'],
  ['POST', '/batches/:id/cancel', 'operation'],
  ['GET', '/consents', 'operation'],
  ['GET', '/consents/:id', 'operation'],
  ['POST', '/consents/:id/withdraw', 'operation'],
  ['POST', '/consents/:id/delete', 'operation'],
  ['GET', '/consents/:id/export', 'operation'],
  ['GET', '/videos', 'operation'],
  ['POST', '/videos/:id/adopt', 'operation'],
  ['POST', '/videos/:id/release', 'operation'],
  ['GET', '/upstreams', 'operation'],
  ['GET', '/settings', 'operation'],
  ['GET', '/activity', 'operation'],
  ['GET', '/alerts', 'operation'],
] as const
