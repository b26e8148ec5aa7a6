from build_fixtures import *  # noqa: F403
