"""Tests of onlooker.media; a package so that its tests share what makes their media."""
