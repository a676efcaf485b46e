/** Where people's browsers go; requests to it are no calls of the account: they are not recorded, and no fault strikes them. */
export const H5_PATH = '/h5/'

/** The page of the check. */
export const H5_CHECK = `${H5_PATH}liveness-face`

/** Where the rest shape, which runs the states itself, has browsers come back to. */
export const H5_CALLBACK = `${H5_PATH}callback/`
